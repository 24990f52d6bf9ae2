package offline_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/assistant/offline"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/toolcall"
)

// mill is Harbor Mill with the offline assistant, as the product runs it.
func TestMain(m *testing.M) { pgtest.Main(m) }

type mill struct {
	t         *testing.T
	db        *pgtest.DB
	assistant *assistant.Assistant
}

func newMill(t *testing.T) *mill {
	t.Helper()
	db, log := pgtest.New(t), slog.New(slog.DiscardHandler)
	registry := db.Registry(t)
	g := gate.New(gate.Pools{Gate: db.Pools.Gate, Agent: db.Pools.Agent, Worker: db.Pools.Worker}, registry, gate.DefaultLimits, func() {}, log)
	tools := toolcall.New(g, registry, actions.All(), db.Pools.Agent, log)
	return &mill{t, db, assistant.New(offline.Model{}, tools, db.Pools.Agent, g.WithdrawCutShort, log)}
}

func (m *mill) say(who identity.Actor, message string) *assistant.Reply {
	m.t.Helper()
	conversation, err := m.assistant.Open(m.t.Context(), who, "")
	if err != nil {
		m.t.Fatal(err)
	}
	reply, err := m.assistant.Send(m.t.Context(), who, conversation.ID, message, "")
	if err != nil || reply.Message == nil {
		m.t.Fatalf("%q: %+v, %v", message, reply, err)
	}
	return reply
}

// made reads a message's proposals: "number status entity id: field from -> to" a line.
func (m *mill) made(reply *assistant.Reply) string {
	m.t.Helper()
	var text string
	err := m.db.Owner.QueryRow(context.WithoutCancel(m.t.Context()), `
		SELECT coalesce(string_agg(concat_ws(' ', p.status, r.entity, r.key, c->>'field', c->'from'->>'json', '->', c->'to'->>'json'), E'\n' ORDER BY p.number, r.position, c->>'field'), '')
		FROM proposals p JOIN proposal_records r ON r.proposal_id = p.id, jsonb_array_elements(r.changes) c WHERE p.turn_id = $1 AND c->>'field' <> 'updated_at'`, reply.Message.TurnID).Scan(&text)
	if err != nil {
		m.t.Fatal(err)
	}
	return text
}

const splitOf1042 = `pending mrp.production_order 3 quantity 480 -> 300
pending mrp.production_order due_date -> 2026-06-06
pending mrp.production_order item -> FG-PALE-20L
pending mrp.production_order notes -> Planned to start on a Sunday: check the crew
pending mrp.production_order order_number -> PO-1042-2
pending mrp.production_order planned_finish -> 2026-06-02
pending mrp.production_order planned_start -> 2026-05-31
pending mrp.production_order priority -> 3
pending mrp.production_order quantity -> 180
pending mrp.production_order status -> planned
pending mrp.production_order unit -> keg`

func TestTheStoriesOfHarborMill(t *testing.T) {
	m := newMill(t)
	maria := m.db.Person(t, "maria@harbor.example")
	for _, story := range []struct {
		message string
		made    string
		says    []string
		cites   int
	}{
		{"Rename role 4 to reviewer", `pending core.role 4 name editor -> reviewer`, []string{"I prepared #", "editor", "reviewer"}, 1},
		{"Can we push PO-1042 by two days?", "pending mrp.production_order 3 planned_finish 2026-06-02 -> 2026-06-04\npending mrp.production_order 3 planned_start 2026-05-31 -> 2026-06-02", []string{"I prepared #", "PO-1042"}, 1},
		{"Set priority 2 on all released orders", "pending mrp.production_order 1 priority 3 -> 2\npending mrp.production_order 2 priority 5 -> 2", []string{"I prepared #", "Set priority of 2 production orders to 2"}, 2},
		{"Set priority 2 on all cancelled orders", "", []string{`I found no production orders`}, 0},
		{"Split PO-1042 into 300 and 180", splitOf1042, []string{"I prepared #", "PO-1042-2"}, 1},
		{"Move operation 7 to 2 June 2026", "pending crp.operation 7 day 2026-05-31 -> 2026-06-02", []string{"I prepared #"}, 1},
		{"Change the quantity of PO-1044 to 90", "", []string{"I prepared nothing", "completed"}, 1},
		{"Delete role 7", "pending core.role 7 description Seasonal staff; nobody has it at the moment ->\npending core.role 7 id 7 ->\npending core.role 7 name temp ->", []string{"I prepared #", "waits for an approval"}, 1},
		{"Which orders are released?", "", []string{"2 production orders with Status released", "PO-1039", "PO-1040"}, 2},
		{"What can you do?", "", []string{"offline", "no network", "Roles", "Production orders", "rename role"}, 0},
		{"yes, apply it", "", []string{"I cannot confirm"}, 0},
		{"Set the priority of PO-1042 to 2 and the notes to \"Crew is there\"", "pending mrp.production_order 3 notes Planned to start on a Sunday: check the crew -> Crew is there\npending mrp.production_order 3 priority 3 -> 2", []string{"I prepared #"}, 1},
		{"Clear the notes of PO-1042", "pending mrp.production_order 3 notes Planned to start on a Sunday: check the crew ->", []string{"I prepared #"}, 1},
		{"Create a role called tester with description Tries things out", "pending core.role description -> Tries things out\npending core.role name -> tester", []string{"I prepared #"}, 0},
		{"Rename role 4 to editor", "", []string{"I prepared nothing"}, 1},
		{"Show me all production orders with priority 3", "", []string{"3 production orders with Priority 3"}, 3},
		{"What is the unit cost of PO-1042?", "", []string{`has no field "unit cost" that I can see`}, 1},
		{"list operations of PO-1042", "", []string{`3 operations with Order "PO-1042"`}, 4},
	} {
		reply := m.say(maria, story.message)
		got := m.made(reply)
		if got != story.made {
			t.Errorf("%s\n  proposed %q\n  want     %q\n  answer: %s", story.message, got, story.made, reply.Message.Content)
		}
		for _, want := range story.says {
			if !strings.Contains(reply.Message.Content, want) {
				t.Errorf("%s\n  says %q\n  and not %q", story.message, reply.Message.Content, want)
			}
		}
		if n := strings.Count(string(reply.Message.Citations), "recordId"); n != story.cites {
			t.Errorf("%s\n  cites %d records, not %d: %s", story.message, n, story.cites, reply.Message.Citations)
		}
		if strings.Contains(reply.Message.Content, assistant.Notice) != (story.made != "") {
			t.Errorf("%s\n  the notice is wrong: %s", story.message, reply.Message.Content)
		}
		if strings.Contains(reply.Message.Content, "28.9") {
			t.Errorf("%s\n  tells a hidden value: %s", story.message, reply.Message.Content)
		}
		t.Logf("> %s\n%s", story.message, reply.Message.Content)
	}
}
