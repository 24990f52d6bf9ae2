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
}

// login is one of the pools: its user is countersign_<name>, its own URL COUNTERSIGN_<NAME>_URL.
type login struct {
	name      string
	most      int32 // connections
	idle      int32 // of them, kept ready
	parameter map[string]string
}

var logins = []login{
	{name: "gate", most: 10, idle: 2},
	{name: "agent", most: 10, idle: 2},
	// The reader's lists have optional filters and few shapes: planning them for every call costs more
	// than the better plan gains.
	{name: "reader", most: 10, idle: 2, parameter: map[string]string{"plan_cache_mode": "force_generic_plan"}},
	{name: "worker", most: 4},
	{name: "identity", most: 5, idle: 1},
}

// OpenPools opens a pool for each login, at the owner's URL with the user replaced, or at the URL that
// the environment has for it. It connects to nothing yet. A pool_max_conns in a URL holds. tracer, where
// there is one, is told of every statement.
func OpenPools(ctx context.Context, ownerURL string, getenv func(string) string, tracer pgx.QueryTracer) (*Pools, error) {
	pools := &Pools{}
	for i, into := range []**pgxpool.Pool{&pools.Gate, &pools.Agent, &pools.Reader, &pools.Worker, &pools.Identity} {
		opened, err := logins[i].open(ctx, ownerURL, getenv, tracer)
		if err != nil {
			pools.Close()
			return nil, err
		}
		*into = opened
	}
	return pools, nil
}

// Close waits for what is running and closes all connections.
func (p *Pools) Close() {
	for _, pool := range []*pgxpool.Pool{p.Gate, p.Agent, p.Reader, p.Worker, p.Identity} {
		if pool != nil {
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
	for i, pool := range []*pgxpool.Pool{p.Gate, p.Agent, p.Reader, p.Worker, p.Identity} {
		name := logins[i].name
		var user string
		if err := pool.QueryRow(ctx, "SELECT session_user").Scan(&user); err != nil {
			return fmt.Errorf("sign in to the database as countersign_%s: %w", name, err)
		}
		if want := "countersign_" + name; user != want {
			return fmt.Errorf("%s must sign in as %s and signs in as %s", logins[i].variable(), want, user)
		}
	}
	return nil
}

func (l login) variable() string { return "COUNTERSIGN_" + strings.ToUpper(l.name) + "_URL" }
