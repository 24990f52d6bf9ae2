package graph

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/redact"
)

// What a resolver panics with, and what PostgreSQL said, is neither logged nor answered; where it was is logged.
func TestAPanicAndACauseSayNothing(t *testing.T) {
	const canary = "plum-7391"
	var out bytes.Buffer
	log := slog.New(redact.Log(slog.NewTextHandler(&out, nil)))
	ctx := graphql.WithResponseContext(t.Context(), graphql.DefaultErrorPresenter, graphql.DefaultRecover)
	for _, err := range []error{recovered(log)(ctx, canary), recovered(log)(ctx, errors.New(canary)), &pgconn.PgError{Code: "P0001", Message: canary, Detail: canary}, invalid("x", "cst_7391739173")} {
		if shown := presenter(log)(ctx, err); strings.Contains(shown.Message, canary) || strings.Contains(shown.Message, "cst_7391739173") {
			t.Errorf("answered: %s", shown.Message)
		}
	}
	if text := out.String(); strings.Contains(text, canary) || !strings.Contains(text, "TestAPanicAndACauseSayNothing") || !strings.Contains(text, "P0001") {
		t.Errorf("logged: %s", text)
	}
}
