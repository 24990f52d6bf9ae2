package assistant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/toolcall"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// script plays a model: the one thing here that is not real.
type script func(ctx context.Context, prompt assistant.Prompt, call assistant.Call) (string, error)

func (script) Name() string { return "script" }

func (s script) Answer(ctx context.Context, prompt assistant.Prompt, call assistant.Call) (string, error) {
	return s(ctx, prompt, call)
}

// world is Harbor Mill with an assistant, and Maria with a conversation.
type world struct {
	*assistant.Assistant
	t            *testing.T
	db           *pgtest.DB
	maria        identity.Person
	conversation id.Conversation
}

func newWorld(t *testing.T, model assistant.Model) *world {
	t.Helper()
	db := pgtest.New(t)
	w := &world{t: t, db: db, Assistant: newServer(t, db, db.Pools, model), maria: db.Person(t, "maria@harbor.example")}
	w.conversation = w.open(w.maria)
	return w
}

// newServer is an assistant of a server of its own on the database.
func newServer(t *testing.T, db *pgtest.DB, pools *postgres.Pools, model assistant.Model) *assistant.Assistant {
	t.Helper()
	return newServerThat(t, db, pools, model, func(withdraw assistant.Withdraw) assistant.Withdraw { return withdraw })
}

// newServerThat withdraws in a way of its own.
func newServerThat(t *testing.T, db *pgtest.DB, pools *postgres.Pools, model assistant.Model, withdraws func(assistant.Withdraw) assistant.Withdraw) *assistant.Assistant {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	registry := db.Registry(t)
	g := gate.New(gate.Pools{Gate: pools.Gate, Agent: pools.Agent, Worker: pools.Worker}, registry, gate.DefaultLimits, func() {}, log)
	return assistant.New(model, toolcall.New(g, registry, actions.All(), pools.Agent, log), pools.Agent, withdraws(g.WithdrawCutShort), log)
}

func (w *world) open(who identity.Actor) id.Conversation {
	w.t.Helper()
	made, err := w.Open(w.t.Context(), who, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return made.ID
}

func (w *world) send(content, key string) *assistant.Reply {
	w.t.Helper()
	return w.sendIn(w.t.Context(), content, key)
}

func (w *world) sendIn(ctx context.Context, content, key string) *assistant.Reply {
	w.t.Helper()
	reply, err := w.Send(ctx, w.maria, w.conversation, content, key)
	if err != nil {
		w.t.Fatalf("send %q: %v", content, err)
	}
	return reply
}

// one reads one value as the owner, who sees everything.
func one[T any](w *world, sql string, arguments ...any) T {
	w.t.Helper()
	var value T
	if err := w.db.Owner.QueryRow(context.WithoutCancel(w.t.Context()), sql, arguments...).Scan(&value); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func (w *world) exec(sql string, arguments ...any) {
	w.t.Helper()
	if _, err := w.db.Owner.Exec(w.t.Context(), sql, arguments...); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// statuses lists the proposals' statuses, in their order.
func (w *world) statuses() string {
	w.t.Helper()
	return one[string](w, `SELECT coalesce(string_agg(status::text, ' ' ORDER BY number), '') FROM proposals`)
}

// untouched checks the business row that the scripts propose to change.
func (w *world) untouched() {
	w.t.Helper()
	if name := one[string](w, `SELECT name FROM core.roles WHERE id = 4`); name != "editor" {
		w.t.Errorf("role 4 is called %q", name)
	}
}

// rename proposes to rename role 4.
func rename(t *testing.T, call assistant.Call, name string) *toolcall.Result {
	t.Helper()
	result, err := call("core_role_update", json.RawMessage(fmt.Sprintf(`{"id":"4","changes":{"name":%q}}`, name)))
	if err != nil || !result.OK {
		t.Errorf("propose %q: %+v, %v", name, result, err)
	}
	return result
}

// until waits for something that another goroutine does.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
