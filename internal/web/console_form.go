package web

import (
	"math"
	"net/http"
	"strconv"
	"strings"
)

// largestForm is how much of a form is read.
const largestForm = 64 << 10

// readForm reads a form as browsers send it. What is too large, or no form, is a problem.
func readForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, largestForm)
	if err := r.ParseForm(); err != nil {
		if strings.Contains(err.Error(), "request body too large") {
			return err
		}
		return &problem{status: http.StatusBadRequest}
	}
	return nil
}

// written is a text someone wrote in a form: line breaks as one character, and nothing that is no text.
func written(r *http.Request, field string) string {
	text := strings.ToValidUTF8(r.PostFormValue(field), "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.TrimSpace(strings.ReplaceAll(text, "\x00", "\uFFFD"))
}

// place is where a list goes on from, the number of its last row; otherwise where nothing is asked.
func place(r *http.Request, field string, otherwise int64) (int64, error) {
	asked := r.URL.Query().Get(field)
	if asked == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(asked, 10, 64)
	if err != nil || n < 0 {
		return 0, &problem{status: http.StatusBadRequest, words: "There is no such place in the list."}
	}
	return n, nil
}

// newest is before everything.
const newest = math.MaxInt64
