package server_test

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// sessionReads counts the statements that look a session up. One request is answered at a time.
type sessionReads struct{ n int }

func (s *sessionReads) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if strings.Contains(d.SQL, "FROM sessions") {
		s.n++
	}
	return ctx
}
func (s *sessionReads) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
