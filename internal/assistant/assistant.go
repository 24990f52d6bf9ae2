// Package assistant answers messages: each on its own, without history, by a model that may read and
// propose through toolcall and has no way to decide. One message is one turn; a turn that does not end
// well leaves no proposal behind that anyone could confirm.
package assistant

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// Withdraw takes back, for the system, a proposal of a turn that was cut short or failed. It does
// nothing to what is no longer open.
type Withdraw func(ctx context.Context, workspace id.Workspace, proposal id.Proposal, reason string) error

// Assistant answers messages. It is safe for use by many goroutines, and by many servers on one database.
type Assistant struct {
	model    Model
	tools    *toolcall.Service
	agent    *pgxpool.Pool
	withdraw Withdraw
	queries  *sqlc.Queries
	log      *slog.Logger
	times    times

	mu      sync.Mutex
	running map[id.Turn]*turn
}

// times bound a turn: how long it may take, how long its lease holds, when that is renewed, and how long
// its end may take where nobody waits any more.
type times struct{ limit, lease, renewal, ending time.Duration }

// New makes an assistant. agent is the pool under the agent's login: all the assistant works with.
func New(model Model, tools *toolcall.Service, agent *pgxpool.Pool, withdraw Withdraw, log *slog.Logger) *Assistant {
	return &Assistant{
		model: model, tools: tools, agent: agent, withdraw: withdraw, queries: sqlc.New(), log: log,
		times:   times{limit: time.Minute, lease: 30 * time.Second, renewal: 10 * time.Second, ending: 10 * time.Second},
		running: map[id.Turn]*turn{},
	}
}
