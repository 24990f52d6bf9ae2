package server_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/server"
)

func TestTheExplorerIsTheDemosAlone(t *testing.T) {
	t.Parallel()
	for demo, want := range map[bool]int{true: http.StatusOK, false: http.StatusNotFound} {
		w := start(t, func(c *server.Config) { c.GraphiQL = demo })
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/graphiql", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("in the demo: %v; /graphiql answers %d, want %d", demo, answer.StatusCode, want)
		}
	}
}
