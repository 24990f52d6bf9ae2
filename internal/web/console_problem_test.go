package web_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/web"
)

func TestADatabaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := start(t, func(c *web.ConsoleConfig) {
		gone, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/nowhere")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(gone.Close)
		c.Reader, c.Log = gone, slog.New(slog.NewTextHandler(&log, nil))
	})
	b := s.browser()
	in := b.press(b.get("/sign-in"), "/sign-in", "email", "maria@harbor.example", "password", "harbor-mill")
	in.is(http.StatusServiceUnavailable).says("Not available right now", "nothing was done", "When you ask about it, say:", "Maria Rossi")
	_, reference, _ := strings.Cut(in.text(), "say: ")
	reference = reference[:12]
	if !strings.Contains(log.String(), "request="+reference) {
		t.Errorf("%s is not in the log:\n%s", reference, log.String())
	}
}

// A card that cannot be made is no half of one, and nothing can be confirmed on it.
func TestAPageThatFailsIsNoHalfPage(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*web.ConsoleConfig){
		"a panic": func(c *web.ConsoleConfig) { c.Kind = func(string) string { panic("kind") } },
		"a card":  func(*web.ConsoleConfig) {},
	} {
		s := start(t, change)
		path := s.propose("4", "reviewer")
		s.exec(`ALTER TABLE countersign.proposal_records DISABLE TRIGGER USER`)
		s.exec(`UPDATE countersign.proposal_records SET changes = '[{"from": 1}]'`)
		maria := s.browser()
		maria.press(maria.get("/sign-in"), "/sign-in", "email", "maria@harbor.example", "password", "harbor-mill")
		page := maria.get(path).is(http.StatusInternalServerError)
		page.says("Something went wrong", "When you ask about it, say:")
		page.saysNot("Confirm", "reviewer", "panic", "json")
		if strings.Count(page.body, "<html") != 1 {
			t.Errorf("%s: half a page is sent:\n%s", name, page.body)
		}
	}
}
