package command

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestTheLogHoldsNoValueOfARecord(t *testing.T) {
	refused := &pgconn.PgError{Code: "22P02", Message: "invalid input syntax: 31.40", Detail: "31.40"}
	for name, err := range map[string]error{
		"itself": refused, "wrapped": fmt.Errorf("read 31.40: %w", refused), "joined": errors.Join(errors.New("first"), refused),
	} {
		var out bytes.Buffer
		slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: withoutValues})).Error("x", "error", err, slog.Group("in", "cause", err))
		if strings.Contains(out.String(), "31.40") || strings.Count(out.String(), "22P02") != 2 {
			t.Errorf("%s: %s", name, out.String())
		}
	}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: withoutValues})).Error("x", "error", errors.New("said"))
	if !strings.Contains(out.String(), "said") {
		t.Errorf("an error of ours is lost: %s", out.String())
	}
}
