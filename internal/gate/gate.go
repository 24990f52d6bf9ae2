// Package gate is the domain: it stores proposals, lets people decide them, and applies what they
// confirmed. One verb a file, one transaction a verb. Every surface calls these methods and adds no rule.
package gate

import (
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Pools are the logins the gate works under: Gate decides and writes host records, Agent proposes,
// Worker expires.
type Pools struct {
	Gate, Agent, Worker *pgxpool.Pool
}

// Limits bound one statement of a decision: how long it waits for a lock, and how long it runs.
type Limits struct {
	Lock, Statement time.Duration
}

// DefaultLimits are those of the design: 5 s and 10 s.
var DefaultLimits = Limits{Lock: 5 * time.Second, Statement: 10 * time.Second}

// Gate decides. It is safe for use by many goroutines, and by many servers on one database.
type Gate struct {
	pools    Pools
	registry *record.Registry
	limits   Limits
	queries  *sqlc.Queries
	wake     func()
	log      *slog.Logger

	sights     map[sqlc.Role]Sight
	turnstile  turnstile
	rehearsals rehearsals
}

// New makes a gate. wake is called after each commit that wrote an event.
func New(pools Pools, registry *record.Registry, limits Limits, wake func(), log *slog.Logger) *Gate {
	return &Gate{pools: pools, registry: registry, limits: limits, queries: sqlc.New(), wake: wake, log: log,
		sights: sightsOf(registry), rehearsals: rehearsalsOn(pools.Gate)}
}
