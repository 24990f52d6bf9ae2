package server

import (
	"io"
	"net/http"
	"time"
)

// patience is how long a client may take to send its body.
const patience = 30 * time.Second

// impatient ends a request whose body does not come. A deadline of the whole server would end streams too.
func impatient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			c := http.NewResponseController(w)
			if c.SetReadDeadline(time.Now().Add(patience)) == nil {
				r.Body = &awaited{r.Body, c}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// awaited lifts the deadline once the body is there.
type awaited struct {
	io.ReadCloser
	c *http.ResponseController
}

func (b *awaited) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.c.SetReadDeadline(time.Time{})
	}
	return n, err
}
