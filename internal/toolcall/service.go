// Package toolcall is the only door for a tool: every run of one, from a chat or from a client's own
// form, is offered by the registry, has a row, a deadline and checked input here, and then reads as the
// person or goes to the gate as a proposal.
package toolcall

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// deadline is how long one call may take.
const deadline = 10 * time.Second

// Service runs tools. It is safe for use by many goroutines.
type Service struct {
	gate     *gate.Gate
	registry *record.Registry
	agent    *pgxpool.Pool
	tools    []Tool
	queries  *sqlc.Queries
	log      *slog.Logger
	patterns sync.Map // of each workspace: held
}

// New makes the catalogue from the registry and the custom actions that are built. agent is the pool under the agent's login.
func New(g *gate.Gate, registry *record.Registry, built []actions.Action, agent *pgxpool.Pool, log *slog.Logger) *Service {
	return &Service{gate: g, registry: registry, agent: agent, tools: catalogue(registry, built), queries: sqlc.New(), log: log}
}

// Enabled tells whether the operator switched the assistant on. Off, nothing can be proposed; what is
// open can still be decided.
func (s *Service) Enabled() bool { return s.registry.Assistant().Enabled }

// Provider names the model that is configured.
func (s *Service) Provider() string { return s.registry.Assistant().Provider }

// Writes tells whether the operator opted any entity into a write.
func (s *Service) Writes() bool {
	return slices.ContainsFunc(s.tools, func(t Tool) bool { return t.Write })
}

// Reads tells whether the operator offers any entity to be read.
func (s *Service) Reads() bool {
	return slices.ContainsFunc(s.tools, func(t Tool) bool { return !t.Write })
}

// Offered lists the tools there are for someone, under the workspace's policies now: what `capabilities` shows and
// what the assistant is told.
func (s *Service) Offered(ctx context.Context, who identity.Actor) ([]Tool, error) {
	policies, err := s.policies(ctx, who)
	if err != nil {
		return nil, err
	}
	list := []Tool{}
	for _, t := range s.tools {
		if t = t.under(policies); !t.off && t.offeredTo(who) {
			list = append(list, t)
		}
	}
	return list, nil
}

// Origin says where a call comes from.
type Origin struct {
	Channel      sqlc.Channel
	ClientName   string
	Conversation id.Conversation
	Turn         id.Turn
	// Note is what a client says about what it proposes; a model says it in the tool's input.
	Note string
	// IdempotencyKey makes a repeated request answer what the first one made.
	IdempotencyKey string
}

// EndStale ends the rows of calls whose server is gone. worker is a pool that sees every workspace's.
func (s *Service) EndStale(ctx context.Context, worker sqlc.DBTX) error {
	_, err := s.queries.EndStaleToolCalls(ctx, worker, 3*deadline)
	return err
}

// bounded gives a call its deadline.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, deadline)
}
