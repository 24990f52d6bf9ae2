package command

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
)

// commander runs one command of the line again and again, on a database of its own.
func commander(t *testing.T, name string) (db *pgtest.DB, run func(wantCode int, wantWords string, line ...string) string) {
	t.Helper()
	db = pgtest.New(t)
	environment := []string{"DATABASE_URL=" + db.OwnerURL, "COUNTERSIGN_CONFIG=" + registryFile(t)}
	return db, func(wantCode int, wantWords string, line ...string) string {
		t.Helper()
		said, wrong, code := once(t, environment, append([]string{name}, line...)...)
		if code != wantCode || !strings.Contains(said+wrong, wantWords) {
			t.Errorf("%s %q ended with %d, not %d of %q: %s%s", name, line, code, wantCode, wantWords, said, wrong)
		}
		return said
	}
}

func TestAPolicyIsSetListedAndCleared(t *testing.T) {
	t.Parallel()
	db, run := commander(t, "policy")
	about := []string{"--workspace", "harbor-mill", "--entity", "core.role"}
	set := func(line ...string) []string { return append(append([]string{"set"}, about...), line...) }
	run(0, "", set("--operation", "update", "--off")...)
	run(0, "", set("--operation", "UPDATE", "--approvals", "2", "--approver", "operator", "--fields", "name, description", "--lifetime", "5m", "--roles", "MEMBER,operator", "--preview-only")...)
	run(0, "", set("--operation", "get", "--roles=")...)
	run(0, "", "set", "--workspace", "harbor-mill", "--entity", "mrp.production_order", "--bulk-cap", "5", "--fields=")
	run(0, "", "set", "--workspace", "harbor-mill", "--tool", "mrp.adjust_order", "--off")
	run(0, "", "set", "--workspace", "other-site", "--entity", "core.user", "--off")
	list := run(0, "ABOUT", "list", "--workspace", "harbor-mill")
	for _, line := range []string{
		"core.role             update     preview-only, approvals 2 operator, fields name,description, lifetime 5m0s, roles member,operator",
		"core.role             get        roles none", "mrp.production_order             fields none, bulk-cap 5", "mrp.adjust_order                 off ",
	} {
		if !strings.Contains(list, strings.TrimSpace(line)) {
			t.Errorf("no %q in\n%s", line, list)
		}
	}
	if strings.Contains(list, "core.user") || strings.Count(list, "\n") != 5 {
		t.Errorf("it lists\n%s", list)
	}
	run(0, "", append([]string{"clear", "--operation", "update"}, about...)...)
	run(1, "there is no policy about core.role update in harbor-mill", append([]string{"clear", "--operation", "update"}, about...)...)
	run(1, "there is no policy about core.role in harbor-mill", append([]string{"clear"}, about...)...)
	run(0, "", "clear", "--workspace", "harbor-mill", "--tool", "mrp.adjust_order")
	const trail = `SELECT string_agg(concat_ws(' ', outcome, entity, tool, operation, policy_version), ', ' ORDER BY at, id) FROM countersign.audit_events WHERE verb = 'policy' AND workspace_id = (SELECT id FROM countersign.workspaces WHERE slug = 'harbor-mill')`
	if got := ask(t, db.OwnerURL, trail); got != "saved core.role update 1, saved core.role update 2, saved core.role get 3, saved mrp.production_order 4, saved mrp.adjust_order 5, cleared core.role update 6, cleared mrp.adjust_order 7" {
		t.Errorf("the audit trail says %s", got)
	}
}

func TestWhatIsNoPolicyIsRefusedByName(t *testing.T) {
	t.Parallel()
	db, run := commander(t, "policy")
	for _, c := range []struct {
		code        int
		named, line string
	}{
		{1, "lives 30m0s already", "--entity mrp.production_order --lifetime 2h"},
		{1, "at least a second", "--entity core.role --lifetime 500ms"},
		{1, "at most 100 records already", "--entity mrp.production_order --bulk-cap 101"},
		{1, "a number is 1 or more", "--entity mrp.production_order --bulk-cap=-1"},
		{1, `no writable field "status"`, "--entity mrp.production_order --fields status"},
		{1, `no writable field "Notes"`, "--entity mrp.production_order --fields Notes"},
		{1, "there is no role boss", "--entity core.role --roles boss"},
		{1, "there is no entity core.rolle", "--entity core.rolle --off"},
		{1, "core.user does not offer update", "--entity core.user --operation update --off"},
		{1, "there is no tool core_role_approve", "--tool core_role_approve --off"},
		{1, "says nothing", "--entity core.role"},
		{1, "say how many", "--entity core.role --approver operator"},
		{1, "stricter than by members", "--entity core.role --operation delete --approvals 1 --approver member"},
		{1, "is about an entity", "--off"},
		{2, "--approver", "--entity core.role --approvals 1 --approver auditor"},
		{2, "--lifetime", "--entity core.role --lifetime soon"},
		{2, "--approvals", "--entity core.role --approvals many"},
		{2, "--tool", "--entity core.role --tool core_role_get --off"},
		{2, "--frob", "--entity core.role --frob"},
	} {
		run(c.code, c.named, append([]string{"set", "--workspace", "harbor-mill"}, strings.Fields(c.line)...)...)
	}
	run(1, `there is no workspace "harbour-mill"`, "set", "--workspace", "harbour-mill", "--entity", "core.role", "--off")
	run(2, "--workspace", "set", "--entity", "core.role", "--off")
	run(2, "--workspace", "list")
	if n := ask(t, db.OwnerURL, `SELECT count(*)::text FROM countersign.policies`); n != "0" {
		t.Errorf("%s policies were saved", n)
	}
}

func TestABudgetIsSetListedAndCleared(t *testing.T) {
	t.Parallel()
	db, run := commander(t, "budget")
	db.APIToken(t, "maria@harbor.example", "propose")
	token := strings.Fields(strings.SplitN(mustSay(t, db, "token", "list"), "\n", 3)[1])[0]
	of := func(verb string, line ...string) []string {
		return append([]string{verb, "--workspace", "harbor-mill", "--measure", "tool-calls", "--period", "day"}, line...)
	}
	run(0, "", of("set", "--limit", "10", "--warn-at", "8")...)
	run(0, "", of("set", "--limit", "20")...)
	run(0, "", of("set", "--each-user", "--warn-at", "3")...)
	run(0, "", of("set", "--user", "Maria@harbor.example", "--limit", "0")...)
	run(0, "", of("set", "--token", token, "--limit", "5")...)
	run(0, "", "set", "--workspace", "harbor-mill", "--measure", "model-tokens", "--period", "month", "--each-token", "--limit", "1000000")
	change(t, db.OwnerURL, `INSERT INTO countersign.usage (workspace_id, user_id, measure, amount) SELECT workspace_id, user_id, 'tool_calls', 2 FROM countersign.memberships m JOIN countersign.users u ON u.id = m.user_id WHERE u.email LIKE 'maria@%' OR u.email LIKE 'paolo@%'`)
	list := run(0, "MEASURE", "list", "--workspace", "harbor-mill")
	for _, line := range [][]string{
		{"tool-calls", "day", "workspace", "4", "20", "-"}, {"tool-calls", "day", "each", "user", "2", "-", "3"}, {"tool-calls", "day", "maria@harbor.example", "2", "0", "-"},
		{"tool-calls", "day", token, "0", "5", "-"}, {"model-tokens", "month", "each", "token", "0", "1000000", "-"},
	} {
		found := false
		for _, one := range strings.Split(list, "\n") {
			found = found || strings.Join(strings.Fields(one), " ") == strings.Join(line, " ")
		}
		if !found {
			t.Errorf("no %q in\n%s", line, list)
		}
	}
	run(0, "", of("clear", "--each-user")...)
	run(1, "there is no such budget in harbor-mill", of("clear", "--each-user")...)
	run(0, "", of("clear")...)
	if list := run(0, "MEASURE", "list", "--workspace", "other-site"); strings.Count(list, "\n") != 1 {
		t.Errorf("another workspace has\n%s", list)
	}
}

func mustSay(t *testing.T, db *pgtest.DB, line ...string) string {
	t.Helper()
	said, wrong, code := once(t, []string{"DATABASE_URL=" + db.OwnerURL}, line...)
	if code != 0 {
		t.Fatalf("%q ended with %d: %s", line, code, wrong)
	}
	return said
}

func TestWhatIsNoBudgetIsRefusedByName(t *testing.T) {
	t.Parallel()
	db, run := commander(t, "budget")
	for _, c := range []struct {
		code        int
		named, line string
	}{
		{1, "a limit, a soft limit, or both", "--measure proposals --period day"},
		{1, "a limit is 0 or more", "--measure proposals --period day --limit=-1"},
		{1, "the soft limit, 9, is above the limit, 8", "--measure proposals --period day --limit 8 --warn-at 9"},
		{1, `there is no user "nobody@harbor.example"`, "--measure proposals --period day --limit 8 --user nobody@harbor.example"},
		{1, `"csa_x" is no token's id`, "--measure proposals --period day --limit 8 --token csa_x"},
		{1, "there is no token", "--measure proposals --period day --limit 8 --token tok_01jz0000000000000000000000"},
		{2, "--measure", "--measure clicks --period day --limit 8"},
		{2, "--period", "--measure proposals --period week --limit 8"},
		{2, "--measure", "--period day --limit 8"},
		{2, "--each-user", "--measure proposals --period day --limit 8 --each-user --each-token"},
		{2, "--limit", "--measure proposals --period day --limit many"},
	} {
		run(c.code, c.named, append([]string{"set", "--workspace", "harbor-mill"}, strings.Fields(c.line)...)...)
	}
	run(1, `there is no workspace "harbour-mill"`, "set", "--workspace", "harbour-mill", "--measure", "proposals", "--period", "day", "--limit", "1")
	if n := ask(t, db.OwnerURL, `SELECT count(*)::text FROM countersign.budgets`); n != "0" {
		t.Errorf("%s budgets were saved", n)
	}
}
