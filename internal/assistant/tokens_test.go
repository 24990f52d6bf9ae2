package assistant_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/sqlc"
)

// A model's tokens are counted as it says them. The request after which none are left is its last: the turn ends
// BUDGET_SPENT with what it had proposed withdrawn, and the next one does not begin.
func TestATurnEndsWhereItsModelTokensAre(t *testing.T) {
	asked := 0
	w := newWorld(t, script(func(_ context.Context, prompt assistant.Prompt, call assistant.Call) (string, error) {
		for i := range 3 {
			asked++
			rename(t, call, fmt.Sprintf("reviewer %d", i))
			if err := prompt.Spend(60); err != nil {
				return "", err
			}
		}
		return "Prepared.", nil
	}))
	w.exec(`INSERT INTO budgets (id, workspace_id, subject, measure, period, hard_limit) SELECT gen_random_uuid(), id, 'workspace', 'model_tokens', 'day', 100 FROM workspaces WHERE slug = 'harbor-mill'`)
	for _, want := range []int{2, 2} { // the second turn asks its model nothing
		reply := w.send("Rename role 4", "")
		if reply.Failure == nil || reply.Failure.Code != sqlc.TurnFailureCodeBudgetSpent || !strings.Contains(reply.Failure.Message, "100 model tokens there are for a day") {
			t.Errorf("failed with %+v", reply.Failure)
		}
		if asked != want {
			t.Errorf("the model was asked %d times, not %d", asked, want)
		}
	}
	if used := one[int](w, `SELECT sum(amount)::int FROM usage WHERE measure = 'model_tokens'`); used != 120 {
		t.Errorf("%d tokens are counted", used)
	}
	if w.statuses() != "withdrawn withdrawn" {
		t.Errorf("the proposals are %s", w.statuses())
	}
	w.untouched()
}
