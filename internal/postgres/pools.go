// Package postgres is how the program reaches its database: pools under the five logins, the workspace a
// statement sees, migrations, a check of what the logins may do, and a private server for demos and tests.
package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pools are the ways into the database, one a login. What each may do is granted in the migrations.
type Pools struct {
	Gate     *pgxpool.Pool // decides, and writes the host's records as the person
	Agent    *pgxpool.Pool // runs tools: reads, proposes, keeps conversations
	Reader   *pgxpool.Pool // reads
	Worker   *pgxpool.Pool // expires what has lapsed, and sequences the feed
	Identity *pgxpool.Pool // signs in
	Streams  *pgxpool.Pool // reads like Reader, for those who follow the feed: they take no connection from those who ask
}

// login is one of the pools: its user is countersign_<name>, its own URL COUNTERSIGN_<NAME>_URL.
type login struct {
	name      string
	pool      func(*Pools) **pgxpool.Pool
	most      int32 // connections
	idle      int32 // of them, kept ready
	parameter map[string]string
}

var logins = []login{
	{name: "gate", pool: func(p *Pools) **pgxpool.Pool { return &p.Gate }, most: 10, idle: 2},
	{name: "agent", pool: func(p *Pools) **pgxpool.Pool { return &p.Agent }, most: 10, idle: 2},
	{name: "reader", pool: func(p *Pools) **pgxpool.Pool { return &p.Reader }, most: 10, idle: 2, parameter: reading},
	{name: "worker", pool: func(p *Pools) **pgxpool.Pool { return &p.Worker }, most: 4},
	{name: "identity", pool: func(p *Pools) **pgxpool.Pool { return &p.Identity }, most: 5, idle: 1},
	{name: "reader", pool: func(p *Pools) **pgxpool.Pool { return &p.Streams }, most: 3, parameter: reading},
}

// reading: the reader's lists have optional filters and few shapes: planning them for every call costs more
// than the better plan gains.
var reading = map[string]string{"plan_cache_mode": "force_generic_plan"}

// OpenPools opens a pool for each login, at the owner's URL with the user replaced, or at the URL that
// the environment has for it. It connects to nothing yet. A pool_max_conns in a URL holds. tracer, where
// there is one, is told of every statement.
func OpenPools(ctx context.Context, ownerURL string, getenv func(string) string, tracer pgx.QueryTracer) (*Pools, error) {
	pools := &Pools{}
	for _, l := range logins {
		opened, err := l.open(ctx, ownerURL, getenv, tracer)
		if err != nil {
			pools.Close()
			return nil, err
		}
		*l.pool(pools) = opened
	}
	return pools, nil
}

// Close waits for what is running and closes all connections.
func (p *Pools) Close() {
	for _, l := range logins {
		if pool := *l.pool(p); pool != nil {
			pool.Close()
		}
	}
}

func (l login) open(ctx context.Context, ownerURL string, getenv func(string) string, tracer pgx.QueryTracer) (*pgxpool.Pool, error) {
	config, err := l.config(ownerURL, getenv)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = tracer
	return pgxpool.NewWithConfig(ctx, config)
}

func (l login) config(ownerURL string, getenv func(string) string) (*pgxpool.Config, error) {
	variable := l.variable()
	address := getenv(variable)
	own := address != ""
	if !own {
		address, variable = ownerURL, "DATABASE_URL"
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%s is no PostgreSQL URL: %w", variable, err)
	}
	if !own {
		config.ConnConfig.User = "countersign_" + l.name
	}
	if !strings.Contains(address, "pool_max_conns") {
		config.MaxConns = l.most
		config.MinIdleConns = l.idle
	}
	config.AfterConnect = plainUUIDs
	settings := config.ConnConfig.RuntimeParams
	settings["search_path"] = "countersign, pg_catalog, pg_temp"
	settings["timezone"] = "UTC"
	settings["application_name"] = "countersign " + l.name
	settings["jit"] = "off" // our statements read few rows, and a plan that does not know so is compiled for longer than it runs
	for name, value := range l.parameter {
		settings[name] = value
	}
	return config, nil
}

// Dial opens a connection like those of the worker's pool that is not of the pool, for whoever listens.
func (p *Pools) Dial(ctx context.Context) (*pgx.Conn, error) {
	config := p.Worker.Config().ConnConfig
	config.RuntimeParams["application_name"] = "countersign listener"
	return pgx.ConnectConfig(ctx, config)
}

// Verify connects each pool and refuses, in a sentence, one that cannot or that is another login than its own.
func (p *Pools) Verify(ctx context.Context) error {
	for _, l := range logins {
		var user string
		if err := (*l.pool(p)).QueryRow(ctx, "SELECT session_user").Scan(&user); err != nil {
			return fmt.Errorf("sign in to the database as countersign_%s: %w", l.name, err)
		}
		if want := "countersign_" + l.name; user != want {
			return fmt.Errorf("%s must sign in as %s and signs in as %s", l.variable(), want, user)
		}
	}
	return nil
}

func (l login) variable() string { return "COUNTERSIGN_" + strings.ToUpper(l.name) + "_URL" }
