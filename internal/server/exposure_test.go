package server_test

import (
	"os/exec"
	"strings"
	"testing"
)

// What the registry hides is in no answer, no log and no row of ours.
func TestAHiddenFieldComesOutNowhere(t *testing.T) {
	t.Parallel()
	dump, err := exec.LookPath("pg_dump")
	if err != nil {
		t.Skip("pg_dump is not installed")
	}
	log := &logged{}
	w := start(t, keeps(log))
	w.exec(`UPDATE mrp.production_orders SET unit_cost = 7391.2846`)
	maria, token, key := w.signIn("maria@harbor.example"), w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose")), w.sql(order)
	told := map[string]string{}
	for name, c := range map[string]*client{"a person": maria, "a token": token} {
		for _, said := range []string{"Which orders are released?", "Show PO-1042", "What is the unit cost of PO-1042?", "What can you do?", "Set priority of PO-1042 to 2", "Set the unit cost of PO-1042 to 1"} {
			told[name+": "+said] = c.say(said).raw
		}
		told[name+"'s capabilities"] = c.gql(`{ capabilities { actions { label tool entity } } }`, nil).raw
		c.gql(propose, vars{"in": vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": key, "changes": vars{"unit_cost": "5"}}}).
			want(vars{"proposeChange.result.code": "INVALID_INPUT", "proposeChange.result.field": "unit_cost"})
	}
	done := maria.confirm(maria.propose(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": key, "changes": vars{"priority": 7}}))
	done.want(vars{"confirmProposal.result.status": "APPLIED"})
	told["the outcome"], told["the list"] = done.raw, maria.gql(`{ proposals { edges { node { `+card+` assistantNote } } } }`, nil).raw
	_, told["the inbox"] = maria.get("/inbox")
	_, told["the history"] = maria.get("/history")
	rows, err := exec.CommandContext(t.Context(), dump, "--inserts", "--schema=countersign", w.db.OwnerURL).Output()
	if err != nil || !strings.Contains(string(rows), "PO-1042") || !strings.Contains(told["the list"], "priority") {
		t.Fatalf("the dump does not hold what was done: %v", err)
	}
	told["our rows"], told["the log"] = string(rows), log.String()
	for where, text := range told {
		for _, hidden := range []string{"7391.2846", "unit_cost"} {
			if i := strings.Index(text, hidden); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, hidden, text[max(0, i-100):min(len(text), i+100)])
			}
		}
	}
}
