package redact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/countersign/countersign/internal/redact"
)

const canary = "canary-7391"

// refused is what PostgreSQL says of a record, in each of the ways it says it.
var refused = &pgconn.PgError{Severity: "ERROR", Code: "23514", Message: "said " + canary, Detail: "Failing row contains (" + canary + ").", Hint: canary, Where: canary, InternalQuery: canary}

func TestAnErrorKeepsNoValueOfARecord(t *testing.T) {
	_, notANumber := strconv.Atoi(canary)
	_, notATime := time.Parse(time.DateOnly, canary)
	_, notEncoded := pgtype.NewMap().Encode(pgtype.Int4OID, pgtype.TextFormatCode, []string{canary}, nil)
	wrong := json.Unmarshal([]byte(`{"a": 7391}`), &struct{ A string }{})
	for name, err := range map[string]error{
		"itself": refused, "wrapped": fmt.Errorf("read: %w", refused), "joined": errors.Join(errors.New("first"), fmt.Errorf("second: %w", refused)),
		"written out": fmt.Errorf("%w, that is %s", refused, refused.Message), "a number": notANumber, "a time": notATime, "encoded": notEncoded, "unmarshalled": wrong,
		"a secret": fmt.Errorf("dial postgres://ada:%s@db", canary),
	} {
		if got := redact.Error(err); strings.Contains(got, canary) || strings.Contains(got, "7391") || got == "" {
			t.Errorf("%s: %q", name, got)
		} else if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && !strings.Contains(got, "SQLSTATE 23514") {
			t.Errorf("%s has lost its SQLSTATE: %q", name, got)
		}
	}
	if got := redact.Error(fmt.Errorf("read the order: %w", refused)); got != "read the order: the database refused: SQLSTATE 23514" {
		t.Errorf("what we say ourselves is %q", got)
	}
	if got := redact.Error(nil); got != "" {
		t.Errorf("no error is %q", got)
	}
}

func TestALogKeepsNoSecret(t *testing.T) {
	p := compiled(t, redact.Named{Name: "canaries", Expression: `canary-[0-9]+`})
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
	} {
		var out bytes.Buffer
		log := slog.New(redact.Log(redact.Log(handler(&out))))
		card := "4111111111111111"
		log.With("with", card).WithGroup("g").Error("said "+card, "error", fmt.Errorf("read: %w", refused), slog.Group("in", "deep", card, slog.Group("deeper", "cause", refused)),
			"any", struct{ A []string }{[]string{card}}, "bytes", []byte("x"), "number", 4111111111111111, "password", "x", "map", map[string]any{"k": card}, "lazy", lazy{card}, "nil", nil, "api_key", 5, card, 1)
		log.ErrorContext(redact.In(context.Background(), p), "with patterns "+canary, "k", canary)
		for _, secret := range []string{card, canary, "Failing row"} {
			if strings.Contains(out.String(), secret) {
				t.Errorf("%s: %s is in %s", name, secret, out.String())
			}
		}
		for _, word := range []string{"read: the database refused: SQLSTATE 23514", "(redacted: secret)", "(redacted: card number)", "(redacted: canaries)", "with"} {
			if !strings.Contains(out.String(), word) {
				t.Errorf("%s: %q is lost of %s", name, word, out.String())
			}
		}
	}
}

type lazy struct{ s string }

func (l lazy) LogValue() slog.Value { return slog.StringValue(l.s) }

// What a handler panics with is not logged; where it did is.
func TestAPanicKeepsItsStackAlone(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(redact.Log(slog.NewTextHandler(&out, nil)))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("at: " + canary + "\ngoroutine 1 " + canary) }))
	server.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	server.Start()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if res, err := http.DefaultClient.Do(r); err == nil {
		_ = res.Body.Close()
	}
	server.Close()
	if text := out.String(); strings.Contains(text, canary) || !strings.Contains(text, "TestAPanicKeepsItsStackAlone") {
		t.Errorf("the log: %s", text)
	}
	none := map[bool]map[string]int{}
	defer func() {
		if got := redact.Panic(recover()); got != "assignment to entry in nil map" {
			t.Error(got)
		}
		if got := redact.Panic(errors.New(canary)) + redact.Panic(canary); got != "a *errors.errorStringa string" {
			t.Error(got)
		}
	}()
	none[true]["x"] = 1
}
