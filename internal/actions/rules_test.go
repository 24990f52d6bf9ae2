package actions_test

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// mill is Harbor Mill, with the tools as the product runs them.
type mill struct {
	*pgtest.DB
	t     *testing.T
	tools *toolcall.Service
	maria identity.Person
}

func newMill(t *testing.T) *mill {
	t.Helper()
	db, log := pgtest.New(t), slog.New(slog.DiscardHandler)
	registry := db.Registry(t)
	if err := registry.CheckActions(actions.Needs(actions.All())); err != nil {
		t.Fatal(err)
	}
	g := gate.New(gate.Pools{Gate: db.Pools.Gate, Agent: db.Pools.Agent, Worker: db.Pools.Worker}, registry, gate.DefaultLimits, func() {}, log)
	return &mill{db, t, toolcall.New(g, registry, actions.All(), db.Pools.Agent, log), db.Person(t, "maria@harbor.example")}
}

func (m *mill) run(a actions.Action, input string) *toolcall.Result {
	m.t.Helper()
	result, err := m.tools.Run(m.t.Context(), m.maria, toolcall.Origin{Channel: sqlc.ChannelApi}, a.ToolName(), json.RawMessage(input))
	if err != nil {
		m.t.Fatalf("%s %s: %v", a.Name, input, err)
	}
	return result
}

func (m *mill) sql(query string, args ...any) string {
	m.t.Helper()
	var text *string
	if err := m.Owner.QueryRow(m.t.Context(), "SELECT ("+query+")::text", args...).Scan(&text); err != nil {
		m.t.Fatalf("%s: %v", query, err)
	}
	if text == nil {
		return "null"
	}
	return *text
}

// breach is an input that a rule of an action refuses; before makes the records such that it does.
type breach struct{ rule, before, input, code, field string }

var breaches = map[string][]breach{
	"mrp.adjust_order": {
		{"The order has to be one that the person sees.", "", `{"order": "PO-9999", "start": "2026-06-02"}`, "INVALID_INPUT", "order"},
		{"The order has to be one that the person sees.", "", `{"order": "4711", "start": "2026-06-02"}`, "INVALID_INPUT", "order"},
		{"The order has to be one that the person sees.", "", `{"order": "5", "start": "2026-06-02"}`, "INVALID_INPUT", "order"}, // other-site's
		{"A number that several orders have names none of them.", "ALTER TABLE mrp.production_orders DROP CONSTRAINT production_orders_site_order_number_key; UPDATE mrp.production_orders SET order_number = 'PO-1042' WHERE id = 1",
			`{"order": "PO-1042", "start": "2026-06-02"}`, "INVALID_INPUT", "order"},
		{"A completed or cancelled order is not offered for change.", "", `{"order": "PO-1044", "quantity": 90}`, "LOCKED", ""},
		{"A completed or cancelled order is not offered for change.", "UPDATE mrp.production_orders SET status = 'cancelled' WHERE id = 3", `{"order": "3", "start": "2026-06-02"}`, "LOCKED", ""},
		{"An order does not finish before it starts.", "", `{"order": "PO-1042", "start": "2026-06-05", "finish": "2026-06-04"}`, "INVALID_INPUT", "finish"},
		{"An order does not finish before it starts.", "", `{"order": "PO-1042", "finish": "2026-05-30"}`, "INVALID_INPUT", "finish"},
		{"An order does not finish before it starts.", "", `{"order": "PO-1042", "split": {"quantity": 1, "finish": "2026-05-30"}}`, "INVALID_INPUT", "split.finish"},
		{"A split leaves some of the quantity to the order.", "", `{"order": "PO-1042", "split": {"quantity": 480}}`, "INVALID_INPUT", "split.quantity"},
		{"A split leaves some of the quantity to the order.", "", `{"order": "PO-1042", "split": {"quantity": "480.000001"}}`, "INVALID_INPUT", "split.quantity"},
		{"A split and a new quantity do not go together.", "", `{"order": "PO-1042", "quantity": 500, "split": {"quantity": 100}}`, "INVALID_INPUT", "quantity"},
		{"There has to be something to change.", "", `{"order": "PO-1042"}`, "NOTHING_TO_CHANGE", ""},
		{"There has to be something to change.", "", `{"order": "PO-1042", "start": "2026-05-31", "finish": "2026-06-02", "quantity": "480.0"}`, "NOTHING_TO_CHANGE", ""},
	},
	"crp.adjust_schedule": {
		{"The operation has to be one that the person sees.", "", `{"operation": "4711", "day": "2026-06-02"}`, "INVALID_INPUT", "operation"},
		{"The operation has to be one that the person sees.", "", `{"operation": "PO-1042/11", "day": "2026-06-02"}`, "INVALID_INPUT", "operation"},
		{"The operation has to be one that the person sees.", "", `{"operation": "PO-1042/x", "day": "2026-06-02"}`, "INVALID_INPUT", "operation"},
		{"The operation has to be one that the person sees.", "", `{"operation": "PO-9999/10", "day": "2026-06-02"}`, "INVALID_INPUT", "operation"},
		{"The work centre has to be one that the person sees.", "", `{"operation": "PO-1042/10", "work_center": "WC-NONE"}`, "INVALID_INPUT", "work_center"},
		{"The work centre has to be one that the person sees.", "", `{"operation": "PO-1042/10", "work_center": "4"}`, "INVALID_INPUT", "work_center"}, // other-site's
		{"An operation of a completed or cancelled order is not offered for change.", "", `{"operation": "PO-1044/10", "day": "2026-06-02"}`, "LOCKED", ""},
		{"An operation of a completed or cancelled order is not offered for change.", "UPDATE mrp.production_orders SET status = 'cancelled' WHERE id = 1", `{"operation": "1", "day": "2026-06-03"}`, "LOCKED", ""},
		{"There has to be something to change.", "", `{"operation": "PO-1042/10"}`, "NOTHING_TO_CHANGE", ""},
		{"There has to be something to change.", "", `{"operation": "PO-1042/10", "day": "2026-05-31", "work_center": "WC-BREW"}`, "NOTHING_TO_CHANGE", ""},
	},
}

func TestEveryRuleRefuses(t *testing.T) {
	each(t, func(t *testing.T, a actions.Action, _ object) {
		for _, rule := range a.Rules {
			if !slices.ContainsFunc(breaches[a.Name], func(b breach) bool { return b.rule == rule }) {
				t.Errorf("nothing in this test breaks the rule %q", rule)
			}
		}
		m := newMill(t)
		for _, b := range breaches[a.Name] {
			if !slices.Contains(a.Rules, b.rule) {
				t.Errorf("the action has no rule %q", b.rule)
			}
			on := m.after(b.before)
			if got := on.run(a, b.input); got.OK || got.Code != b.code || got.Field != b.field || got.Message == "" {
				t.Errorf("%s\n  %s: %s %s %s, want %s %s", b.rule, b.input, got.Code, got.Field, got.Message, b.code, b.field)
			}
			if n := on.sql(`SELECT count(*) FROM countersign.proposals`); n != "0" {
				t.Errorf("%s: %s cards were made", b.input, n)
			}
		}
	})
}

// scenario is what an action makes of an input: its changes, one a line, and what it says beside the card.
type scenario struct{ before, input, makes, says string }

var scenarios = map[string][]scenario{
	"mrp.adjust_order": {
		{"", `{"order": "PO-1042", "start": "2026-06-02"}`,
			`update 3 planned_start 2026-05-31 -> 2026-06-02; planned_finish 2026-06-02 -> 2026-06-04`,
			`OVERLOAD WC-BREW is then loaded 1020 of 864 minutes on 2 June 2026; now it is 360.`},
		{"", `{"order": "3", "start": "2026-06-01"}`, `update 3 planned_start 2026-05-31 -> 2026-06-01; planned_finish 2026-06-02 -> 2026-06-03`,
			`OVERLOAD WC-BREW is then loaded 920 of 864 minutes on 1 June 2026; now it is 260.`},
		{"", `{"order": "PO-1042", "start": "2026-06-08", "finish": "2026-06-12"}`, `update 3 planned_start 2026-05-31 -> 2026-06-08; planned_finish 2026-06-02 -> 2026-06-12`, ``},
		{"", `{"order": "PO-1042", "finish": "2026-06-03"}`, `update 3 planned_finish 2026-06-02 -> 2026-06-03`, ``},
		{"", `{"order": "PO-1039", "quantity": "720"}`, `update 1 quantity 240 -> 720`,
			`OVERLOAD WC-BREW is then loaded about 1080 of 864 minutes on 2 June 2026; now it is 360.`},
		{"", `{"order": "PO-1042", "split": {"quantity": 180.5, "start": "2026-06-02"}}`,
			"update 3 quantity 480 -> 299.5\ncreate  order_number -> PO-1042-2; item -> FG-PALE-20L; quantity -> 180.5; unit -> keg; status -> planned; priority -> 3; planned_start -> 2026-06-02; planned_finish -> 2026-06-04; due_date -> 2026-06-06; notes -> Planned to start on a Sunday: check the crew", ``},
		{"UPDATE mrp.production_orders SET order_number = 'PO-1042-2' WHERE id = 4; UPDATE mrp.production_orders SET notes = NULL WHERE id = 3", `{"order": "PO-1042", "start": "2026-06-08", "split": {"quantity": "100"}}`,
			"update 3 quantity 480 -> 380; planned_start 2026-05-31 -> 2026-06-08; planned_finish 2026-06-02 -> 2026-06-10\ncreate  order_number -> PO-1042-3; item -> FG-PALE-20L; quantity -> 100; unit -> keg; status -> planned; priority -> 3; planned_start -> 2026-06-08; planned_finish -> 2026-06-10; due_date -> 2026-06-06", ``},
	},
	"crp.adjust_schedule": {
		{"", `{"operation": "PO-1042/10", "day": "2026-06-02"}`, `update 7 day 2026-05-31 -> 2026-06-02`,
			" WC-BREW is then loaded 0 of 0 minutes on 31 May 2026; now it is 660.\nOVERLOAD WC-BREW is then loaded 1020 of 864 minutes on 2 June 2026; now it is 360."},
		{"", `{"operation": "7", "day": "2026-06-03", "work_center": "WC-FILL"}`, `update 7 work_center_id 1 -> 2; day 2026-05-31 -> 2026-06-03`,
			" WC-BREW is then loaded 0 of 0 minutes on 31 May 2026; now it is 660.\nOVERLOAD WC-FILL is then loaded 870 of 864 minutes on 3 June 2026; now it is 210."},
	},
}

func TestEveryActionMakesWhatItSays(t *testing.T) {
	each(t, func(t *testing.T, a actions.Action, _ object) {
		if len(scenarios[a.Name]) == 0 {
			t.Fatal("the action has no scenario in this test")
		}
		mill := newMill(t)
		for _, s := range scenarios[a.Name] {
			m := mill.after(s.before)
			result := m.run(a, s.input)
			if !result.OK {
				t.Errorf("%s: %s", s.input, result.JSON())
				continue
			}
			if makes := m.made(result.Proposal.ID); makes != s.makes {
				t.Errorf("%s\n makes %s\n want  %s", s.input, makes, s.makes)
			}
			if says := m.said(result.Proposal.ID); says != s.says {
				t.Errorf("%s\n says %s\n want %s", s.input, says, s.says)
			}
		}
	})
}

// after is the mill once something was done to its records: one of its own, where there is something to do.
func (m *mill) after(statements string) *mill {
	m.t.Helper()
	if statements == "" {
		return m
	}
	other := newMill(m.t)
	if _, err := other.Owner.Exec(m.t.Context(), statements); err != nil {
		m.t.Fatal(err)
	}
	return other
}

// made reads the changes of a proposal.
func (m *mill) made(which id.Proposal) string {
	m.t.Helper()
	return strings.TrimSpace(m.sql(`SELECT coalesce(string_agg(r.operation || ' ' || coalesce(r.key, '') || ' ' || c.changes, E'\n' ORDER BY r.position), '')
		FROM countersign.proposal_records r, LATERAL (SELECT string_agg(concat_ws(' ', e ->> 'field', e -> 'from' ->> 'json', '->', e -> 'to' ->> 'json'), '; ' ORDER BY n) AS changes
			FROM jsonb_array_elements(r.changes) WITH ORDINALITY AS x (e, n)) c WHERE r.proposal_id = $1`, which))
}

func (m *mill) said(which id.Proposal) string {
	m.t.Helper()
	return m.sql(`SELECT coalesce(string_agg((w ->> 'code') || ' ' || (w ->> 'message'), E'\n' ORDER BY n), '') FROM countersign.proposals p, jsonb_array_elements(p.warnings) WITH ORDINALITY AS x (w, n) WHERE p.id = $1`, which)
}
