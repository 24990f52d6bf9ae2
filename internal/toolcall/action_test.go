package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type badge struct {
	Role string `json:"role" names:"true" says:"The role, by its key."`
	Text string `json:"text" max:"60" says:"What it is to say."`
	PIN  string `json:"pin" secret:"true" says:"The keeper's number."`
	Days *int   `json:"days" min:"1" max:"30" says:"For how long."`
}

// stuck ends the planner's wait.
var stuck chan struct{}

// hang is an action that no package of the product knows.
var hang = actions.Define(actions.Action{Name: "core.hang_badge", Title: "Hang a badge", Entity: "core.role", Description: "Puts a text on a role.", Needs: map[string][]string{"core.role": {"name", "description"}}},
	func(ctx context.Context, view record.View, in badge) ([]record.Change, []card.Notice, error) {
		if in.Text == "wait" {
			close(stuck)
			<-ctx.Done()
			return nil, nil, ctx.Err()
		}
		role, err := view.Get(ctx, "core.role", in.Role)
		if err != nil {
			return nil, nil, err
		}
		entity, _ := view.Entity("core.role")
		values := map[string]json.RawMessage{"description": record.TextValue(role.Text("name") + ": " + in.Text)}
		list := []record.Change{record.Planned(entity, record.Update, role.Key, values)}
		if in.Text == "twice" {
			list = append(list, record.Planned(entity, record.Update, role.Key, map[string]json.RawMessage{"name": record.TextValue("badged")}))
		}
		return list, nil, nil
	})

type badges struct {
	*pgtest.DB
	t     *testing.T
	tools *toolcall.Service
}

func newBadges(t *testing.T) *badges {
	t.Helper()
	db, log := pgtest.New(t), slog.New(slog.DiscardHandler)
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	registry, err := record.Parse(t.Context(), db.Pools.Reader, "test.yaml", append(yaml, "\n  core.hang_badge: {roles: [MEMBER], writes: {core.role: [update]}}\n"...))
	if err != nil {
		t.Fatal(err)
	}
	built := append(actions.All(), hang)
	if err := registry.CheckActions(actions.Needs(built)); err != nil {
		t.Fatal(err)
	}
	g := gate.New(gate.Pools{Gate: db.Pools.Gate, Agent: db.Pools.Agent, Worker: db.Pools.Worker}, registry, gate.DefaultLimits, func() {}, log)
	return &badges{db, t, toolcall.New(g, registry, built, db.Pools.Agent, log)}
}

func (b *badges) run(ctx context.Context, who identity.Actor, input string) (*toolcall.Result, error) {
	return b.tools.Run(ctx, who, toolcall.Origin{Channel: sqlc.ChannelMcp}, "core_hang_badge", json.RawMessage(input))
}

// row reads the last call's: status, code, and what is kept of its input.
func (b *badges) row() string {
	b.t.Helper()
	var text string
	if err := b.Owner.QueryRow(b.t.Context(), `SELECT concat_ws(' ', tool, entity, status, code, input) FROM countersign.tool_calls ORDER BY id DESC LIMIT 1`).Scan(&text); err != nil {
		b.t.Fatal(err)
	}
	return text
}

// An action from anywhere goes through the one door: offered or not, with its row, and its secrets left out.
func TestAnActionOfAnotherPackageRunsAsEveryTool(t *testing.T) {
	b := newBadges(t)
	maria := b.Person(t, "maria@harbor.example")
	for _, c := range []struct {
		who         string
		input, code string
		row         string
	}{
		{"maria", `{"role": "4", "text": "hello", "pin": "1234", "note": "asked for"}`, "", `core_hang_badge core.role succeeded {"pin": "(secret)", "note": "asked for", "role": "4", "text": "hello"}`},
		{"maria", `{"role": "4", "text": "hello", "pin": "1234", "unit_cost": "9999"}`, "INVALID_INPUT", `core_hang_badge core.role refused INVALID_INPUT {"pin": "(secret)", "role": "4", "text": "hello", "(unknown)": true}`},
		{"maria", `{"role": "4711", "text": "hello", "pin": "1234"}`, "RECORD_GONE", `core_hang_badge core.role refused RECORD_GONE {"pin": "(secret)", "role": "4711", "text": "hello"}`},
		{"maria", `{"role": "4", "text": "hello", "pin": "1234", "days": 31}`, "INVALID_INPUT", `core_hang_badge core.role refused INVALID_INPUT {"pin": "(secret)", "days": 31, "role": "4", "text": "hello"}`},
		{"maria", `{"role": "4", "text": "hello", "pin": "1234", "note": 5}`, "INVALID_INPUT", `core_hang_badge core.role refused INVALID_INPUT {"pin": "(secret)", "note": 5, "role": "4", "text": "hello"}`},
		{"maria", `{"role": "4", "text": "twice", "pin": "1234"}`, "INVALID_INPUT", `core_hang_badge core.role refused INVALID_INPUT {"pin": "(secret)", "role": "4", "text": "twice"}`},
		{"maria", `"1234"`, "INVALID_INPUT", `core_hang_badge core.role refused INVALID_INPUT {}`},
		{"jonas", `{"role": "4", "text": "hello", "pin": "1234"}`, "NOT_OFFERED", `core_hang_badge  refused NOT_OFFERED {}`},
		{"sam", `{"role": "4", "text": "hello", "pin": "1234"}`, "NOT_OFFERED", `core_hang_badge  refused NOT_OFFERED {}`},
	} {
		result, err := b.run(t.Context(), b.Person(t, c.who+"@harbor.example"), c.input)
		if err != nil || result.Code != c.code || result.OK != (c.code == "") {
			t.Errorf("%s %s: %+v, %v", c.who, c.input, result, err)
		}
		if got := b.row(); got != c.row {
			t.Errorf("%s %s\n has the row %s\n want        %s", c.who, c.input, got, c.row)
		}
	}
	stuck = make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-stuck; leave() }()
	if result, err := b.run(ctx, maria, `{"role": "4", "text": "wait", "pin": "1234"}`); err == nil {
		t.Errorf("a call whose caller left answered %s", result.JSON())
	}
	if got := b.row(); !strings.HasPrefix(got, "core_hang_badge core.role cut_short CUT_SHORT") {
		t.Errorf("a call whose caller left has the row %s", got)
	}
	if reader := b.Agent(t, "maria@harbor.example", "read"); reader.May(identity.ScopePropose) {
		t.Error("a token without the scope may propose")
	} else if result, err := b.run(t.Context(), reader, `{"role": "4", "text": "hello", "pin": "1234"}`); err != nil || result.Code != "NOT_OFFERED" {
		t.Errorf("a token that only reads: %+v, %v", result, err)
	}
	var made string
	if err := b.Owner.QueryRow(t.Context(), `SELECT string_agg(concat_ws(' ', action_kind, operation, preview_only, assistant_note, headline), '; ') FROM countersign.proposals`).Scan(&made); err != nil ||
		made != `core.hang_badge action f asked for Set description of editor to editor: hello` {
		t.Errorf("proposed: %s, %v", made, err)
	}
}

func TestDefineRefusesABrokenAction(t *testing.T) {
	type reserved struct {
		Note string `json:"note" says:"x"`
	}
	type unsaid struct {
		Role string `json:"role"`
	}
	type odd struct {
		Role float64 `json:"role" says:"x"`
	}
	for name, define := range map[string]func(){
		"a name":       func() { actions.Define(actions.Action{Name: "badge"}, planned[badge]) },
		"note":         func() { actions.Define(actions.Action{Name: "core.x"}, planned[reserved]) },
		"nothing said": func() { actions.Define(actions.Action{Name: "core.x"}, planned[unsaid]) },
		"a float":      func() { actions.Define(actions.Action{Name: "core.x"}, planned[odd]) },
		"no struct":    func() { actions.Define(actions.Action{Name: "core.x"}, planned[string]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the action is defined", name)
				}
			}()
			define()
		}()
	}
}

func planned[In any](context.Context, record.View, In) ([]record.Change, []card.Notice, error) {
	return nil, nil, fmt.Errorf("never run")
}
