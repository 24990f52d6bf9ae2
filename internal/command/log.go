package command

import (
	"log/slog"
	"os"
)

// newLogger writes to stderr: lines for a person where that is a terminal, JSON for a program otherwise.
func newLogger() *slog.Logger {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, nil))
}
