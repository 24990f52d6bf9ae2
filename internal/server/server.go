// Package server puts the parts together: pools, identity, registry, gate, tools, assistant, and the
// surfaces on one handler. It has no rule of its own.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/assistant/offline"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/internal/retention"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// Config is what the command line decides. Registry, where it is given, is used in place of ConfigPath.
type Config struct {
	OwnerURL   string
	ConfigPath string
	Registry   []byte
	CookieName string
	Secure     bool
	// GraphiQL switches on the explorer and introspection.
	GraphiQL bool
	// TimersOff leaves expiries unstored: reads and decisions evaluate them all the same. What is old is not
	// deleted. The feed runs on.
	TimersOff bool
	// KeepAlive is how often a stream that is idle says something; zero for the usual.
	KeepAlive time.Duration
	Logger    *slog.Logger
	// Tracer, where there is one, is told of every statement of every pool.
	Tracer pgx.QueryTracer
}

// Server is the service on one database.
type Server struct {
	Handler http.Handler
	pools   *postgres.Pools
	hub     *feed.Hub
	stop    context.CancelFunc
	running sync.WaitGroup
}

// New opens the pools and refuses, in a sentence, a database whose schema is behind or whose roles have
// rights they must not have, and a registry that does not fit.
func New(ctx context.Context, c Config) (*Server, error) {
	c.Logger = slog.New(redact.Log(c.Logger.Handler()))
	registry, err := c.check(ctx)
	if err != nil {
		return nil, err
	}
	pools, err := postgres.OpenPools(ctx, c.OwnerURL, os.Getenv, c.Tracer)
	if err != nil {
		return nil, err
	}
	if err := pools.Verify(ctx); err != nil {
		pools.Close()
		return nil, err
	}
	model, err := modelOf(registry.Assistant())
	if err != nil {
		pools.Close()
		return nil, err
	}
	s := &Server{pools: pools}
	parts := c.assemble(pools, registry, model)
	s.hub = parts.hub
	s.Handler = parts.routes(c)
	s.start(ctx, c, parts)
	return s, nil
}

// check looks at the database as its owner does, once.
func (c Config) check(ctx context.Context) (*record.Registry, error) {
	conn, err := postgres.ConnectOwner(ctx, c.OwnerURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := postgres.SchemaIsCurrent(ctx, conn); err != nil {
		return nil, err
	}
	registry, err := c.registry(ctx, conn)
	if err != nil {
		return nil, err
	}
	if err := registry.CheckActions(actions.Needs(actions.All())); err != nil {
		return nil, err
	}
	sources := []postgres.Source{}
	for _, s := range registry.Sources() {
		sources = append(sources, postgres.Source{Name: s.Name, ReadAs: s.ReadAs, WriteAs: s.WriteAs})
	}
	c.tellMissing(ctx, conn, registry)
	return registry, postgres.CheckRoles(ctx, conn, sources, registry.Tables())
}

// tellMissing logs what the host has not granted of what the registry offers: it may be meant, and where it
// is not, a person would only find their change refused.
func (c Config) tellMissing(ctx context.Context, db sqlc.DBTX, registry *record.Registry) {
	var roles, tables, privileges []string
	for _, n := range registry.Needs() {
		roles, tables, privileges = append(roles, n.Role), append(tables, n.Table), append(privileges, n.Privilege)
	}
	missing, err := postgres.MissingRights(ctx, db, roles, tables, privileges)
	if err != nil {
		c.Logger.WarnContext(ctx, "the rights of the host's roles were not looked at", "error", err)
	}
	for _, sentence := range missing {
		c.Logger.WarnContext(ctx, "offered, and not granted by the host: "+sentence)
	}
}

func (c Config) registry(ctx context.Context, db record.Database) (*record.Registry, error) {
	if c.Registry != nil {
		return record.Parse(ctx, db, "countersign.yaml", c.Registry)
	}
	return record.Load(ctx, db, c.ConfigPath)
}

// modelOf: a registry that says nothing of an assistant has none, and needs no model.
func modelOf(a record.Assistant) (assistant.Model, error) {
	if a.Provider != "" && a.Provider != "offline" {
		return nil, fmt.Errorf("assistant.provider is %s in the registry, which is not in this build: it has offline", a.Provider)
	}
	return offline.Model{}, nil
}

// parts are the service without its surfaces.
type parts struct {
	pools     *postgres.Pools
	registry  *record.Registry
	identity  *identity.Service
	feed      *feed.Feed
	hub       *feed.Hub
	gate      *gate.Gate
	tools     *toolcall.Service
	assistant *assistant.Assistant
	log       *slog.Logger
}

func (c Config) assemble(pools *postgres.Pools, registry *record.Registry, model assistant.Model) parts {
	p := parts{pools: pools, registry: registry, log: c.Logger}
	p.identity = identity.New(pools.Identity, identity.Cookie{Name: c.CookieName, Secure: c.Secure})
	p.feed = feed.New(pools.Worker, pools.Dial, c.Logger)
	p.feed.ReadBy(pools.Reader)
	p.hub = feed.NewHub(p.feed, pools.Streams, p.identity, feed.DefaultLimits, c.Logger)
	p.gate = gate.New(gate.Pools{Gate: pools.Gate, Agent: pools.Agent, Worker: pools.Worker}, registry, gate.DefaultLimits, p.feed.Wake, c.Logger)
	p.tools = toolcall.New(p.gate, registry, actions.All(), pools.Agent, c.Logger)
	p.assistant = assistant.New(model, p.tools, pools.Agent, p.gate.WithdrawCutShort, c.Logger)
	return p
}

// start runs what works in the background until Close.
func (s *Server) start(ctx context.Context, c Config, p parts) {
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.running.Go(func() { p.feed.Run(ctx) })
	s.running.Go(func() { p.hub.Run(ctx) })
	if c.TimersOff {
		return
	}
	s.running.Go(func() { p.gate.Run(ctx) })
	s.running.Go(func() { p.every(ctx, 10*time.Minute, p.identity.Sweep) })
	s.running.Go(func() { p.every(ctx, 10*time.Second, p.endAbandoned) })
	if days := p.registry.ApprovalRetentionDays(); days > 0 {
		s.running.Go(func() { retention.New(p.pools.Worker, days, p.log).Run(ctx) })
	}
}

// endAbandoned ends turns and tool calls whose server is gone, in any workspace.
func (p parts) endAbandoned(ctx context.Context) error {
	return errors.Join(p.assistant.CutAllLapsed(ctx, p.pools.Worker), p.tools.EndStale(ctx, p.pools.Worker))
}

// every does something now and then, first at once, until ctx ends.
func (p parts) every(ctx context.Context, pause time.Duration, do func(context.Context) error) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "a task of the background was not done", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// SayGoodbye ends the streams, and those that come after: their clients come back, to another server or to
// this one when it has started again. All else goes on.
func (s *Server) SayGoodbye() { s.hub.Leave() }

// Close says goodbye, ends the background work, and closes the pools.
func (s *Server) Close() {
	s.SayGoodbye()
	s.stop()
	s.running.Wait()
	s.pools.Close()
}
