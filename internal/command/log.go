package command

import (
	"errors"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
)

// newLogger writes to stderr: lines for a person where that is a terminal, JSON for a program otherwise.
func newLogger() *slog.Logger {
	options := &slog.HandlerOptions{ReplaceAttr: withoutValues}
	log := slog.New(slog.NewJSONHandler(os.Stderr, options))
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		log = slog.New(slog.NewTextHandler(os.Stderr, options))
	}
	slog.SetDefault(log)
	return log
}

// withoutValues keeps PostgreSQL's words out of the log: they repeat values of records, of hidden columns
// too. Its SQLSTATE stays.
func withoutValues(_ []string, a slog.Attr) slog.Attr {
	err, ok := a.Value.Any().(error)
	if refused := (*pgconn.PgError)(nil); ok && errors.As(err, &refused) {
		a.Value = slog.StringValue("the database refused: SQLSTATE " + refused.Code)
	}
	return a
}
