package command

import (
	"log/slog"
	"os"

	"github.com/countersign/countersign/internal/redact"
)

// newLogger writes to stderr, and no secret: lines for a person where that is a terminal, JSON for a program
// otherwise.
func newLogger() *slog.Logger {
	var to slog.Handler = slog.NewJSONHandler(os.Stderr, nil)
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		to = slog.NewTextHandler(os.Stderr, nil)
	}
	log := slog.New(redact.Log(to))
	slog.SetDefault(log)
	return log
}
