package assistant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/assistant"
)

// One answer proposes so many changes and no more, however much it reads; the next one begins anew.
func TestATurnProposesABoundedNumber(t *testing.T) {
	n := 0
	w := newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		for range 20 {
			if read, err := call("core_role_get", json.RawMessage(`{"id":"4"}`)); err != nil || !read.OK {
				t.Errorf("reading: %+v, %v", read, err)
			}
		}
		for range 5 {
			n++
			rename(t, call, fmt.Sprintf("name %d", n))
		}
		for range 2 {
			result, err := call("core_role_update", json.RawMessage(`{"id":"4","changes":{"name":"one more"}}`))
			if err != nil || result.OK || result.Code != "BUDGET_SPENT" || !strings.Contains(result.Message, "at most 5 changes") {
				t.Errorf("one more: %+v, %v", result, err)
			}
		}
		if read, err := call("core_role_list", json.RawMessage(`{}`)); err != nil || !read.OK {
			t.Errorf("reading after that: %+v, %v", read, err)
		}
		return "Five are prepared.", nil
	}))
	for turn := 1; turn <= 2; turn++ {
		if reply := w.send("Rename role 4 again and again", ""); reply.Failure != nil {
			t.Fatalf("turn %d: %+v", turn, reply.Failure)
		}
		if got := one[int](w, `SELECT count(*)::int FROM proposals`); got != 5*turn {
			t.Errorf("after %d turns there are %d proposals", turn, got)
		}
		if got := one[int](w, `SELECT count(*)::int FROM tool_calls WHERE status = 'refused' AND code = 'BUDGET_SPENT'`); got != 2*turn {
			t.Errorf("%d calls have a row that says so", got)
		}
		if got := one[int](w, `SELECT count(*)::int FROM audit_events WHERE verb = 'call' AND outcome = 'budget_spent'`); got != 2*turn {
			t.Errorf("%d entries of the audit trail say so", got)
		}
	}
	w.untouched()
}

// What was answered with what was open already is no proposal of the turn.
func TestWhatIsOpenAlreadyDoesNotCount(t *testing.T) {
	w := newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		for range 8 {
			rename(t, call, "reviewer")
		}
		return "ok", nil
	}))
	w.send("Rename role 4", "")
	if got := w.statuses(); got != "pending" {
		t.Errorf("the proposals are %s", got)
	}
}

// A model is told what policies leave when it begins, and refused what they have taken since.
func TestThePromptFollowsPolicies(t *testing.T) {
	var told []assistant.Prompt
	var flip string
	w := (*world)(nil)
	w = newWorld(t, script(func(_ context.Context, p assistant.Prompt, call assistant.Call) (string, error) {
		told = append(told, p)
		if flip != "" {
			w.exec(flip)
			result, err := call("core_role_update", json.RawMessage(`{"id":"4","changes":{"name":"reviewer"}}`))
			if err != nil || result.OK || result.Code != "SWITCHED_OFF" {
				t.Errorf("what was switched off meanwhile: %+v, %v", result, err)
			}
		}
		return "ok", nil
	}))
	tool := func(p assistant.Prompt, name string) (string, bool) {
		for _, one := range p.Tools {
			if one.Name == name {
				raw, _ := json.Marshal(one.Schema)
				return string(raw), true
			}
		}
		return "", false
	}
	const policy = `INSERT INTO policies (id, workspace_id, entity, operation, %s) SELECT gen_random_uuid(), id, 'core.role', 'update', %s FROM workspaces WHERE slug = 'harbor-mill'`
	w.send("hello", "")
	w.exec(fmt.Sprintf(policy, "fields", "'{description}'"))
	w.send("hello", "")
	w.exec(`UPDATE policies SET switched_off = true`)
	w.send("hello", "")
	w.exec(`DELETE FROM policies`)
	flip = fmt.Sprintf(policy, "switched_off", "true")
	w.send("hello", "")
	for i, offered := range []bool{true, true, false, true} {
		schema, there := tool(told[i], "core_role_update")
		if there != offered || strings.Contains(told[i].System, "core_role_update") != offered {
			t.Errorf("message %d: offered %v", i, there)
		}
		if names := strings.Contains(schema, `"name"`); there && names != (i != 1) {
			t.Errorf("message %d: its schema is %s", i, schema)
		}
	}
	w.untouched()
}
