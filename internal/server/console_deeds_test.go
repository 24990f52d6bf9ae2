package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// What a press on Confirm comes to, on the page that follows and in the record, whatever happened in between.
func TestWhatAConfirmComesToInTheConsole(t *testing.T) {
	t.Parallel()
	const role = `SELECT coalesce((SELECT concat_ws('/', name, description) FROM core.roles WHERE id = 4), 'gone')`
	was := "editor/Keeps items and texts up to date"
	for name, c := range map[string]struct {
		between  string
		says     []string
		never    []string
		becomes  string
		registry [2]string
	}{
		"nothing":              {"", []string{"Your confirmation is recorded.", "Applied. You confirmed it.", "The change is made.", "reviewer"}, nil, "reviewer/Keeps items and texts up to date", [2]string{}},
		"an edit":              {`UPDATE core.roles SET description = 'theirs' WHERE id = 4`, []string{"Not applied.", "The record changed after the card was made"}, nil, "editor/theirs", [2]string{}},
		"a deletion":           {`UPDATE core.users SET role_id = 1 WHERE role_id = 4; DELETE FROM core.roles WHERE id = 4`, []string{"Not applied.", "The record is no longer there."}, nil, "gone", [2]string{}},
		"another with its key": {`UPDATE core.users SET role_id = 1 WHERE role_id = 4; DELETE FROM core.roles WHERE id = 4; INSERT INTO core.roles (id, site, name) VALUES (4, 'harbor-mill', 'editor')`, []string{"Not applied.", "The record changed after the card was made"}, nil, "editor", [2]string{}},
		"out of sight":         {`UPDATE core.roles SET site = 'other-site' WHERE id = 4`, []string{"Not applied.", "The record is no longer there."}, nil, was, [2]string{}},
		"no right to read":     {`REVOKE SELECT ON core.roles FROM harbor_read, harbor_write`, []string{"Not applied.", "The record was left as it is."}, nil, was, [2]string{}},
		"reading switched off": {"", []string{"Not applied.", "The record was left as it is."}, nil, was, [2]string{"      get:\n", ""}},
		"no right to write":    {`REVOKE UPDATE ON core.roles FROM harbor_write`, []string{"Not applied."}, nil, was, [2]string{}},
		"a rule of the database": {`ALTER TABLE core.roles ADD CONSTRAINT ` + "secret_rule" + ` CHECK (name <> 'reviewer')`,
			[]string{"Not applied.", "Ask again with another value."}, []string{"secret_rule", "core.roles", "violates"}, was, [2]string{}},
		"switched off": {"", []string{"Not applied.", "An operator decides what is offered."}, nil, was, [2]string{"      update:\n", ""}},
		"time ran out": {`UPDATE countersign.proposals SET expires_at = clock_timestamp()`, []string{"Its time had run out before you pressed the button.", "Expired", "Nothing was changed."}, []string{"Applied"}, was, [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, func(c *server.Config) { c.TimersOff = true })
			b := w.console("maria@harbor.example")
			id, _ := w.signIn("maria@harbor.example").rename("4", "reviewer")
			card := b.open("/proposals/" + id).says("Confirm")
			if c.registry[0] != "" {
				b = b.on(w.serve(registryWith(t, c.registry[0], c.registry[1])))
			}
			if c.between != "" {
				w.exec(c.between)
			}
			after := b.press(card, "/proposals/"+id+"/confirm").is(http.StatusOK).says(c.says...).saysNot(c.never...)
			if after.form("/proposals/"+id+"/confirm") != nil {
				t.Error("it can be confirmed again")
			}
			again := b.press(card, "/proposals/"+id+"/confirm").is(http.StatusOK).says(c.says[len(c.says)-1]) // no second write, and no error page
			b.press(card, "/proposals/"+id+"/reject").is(http.StatusOK).saysNot("You rejected it")
			if got := w.sql(role); got != c.becomes {
				t.Errorf("the role is %s, want %s\n%s", got, c.becomes, again.text())
			}
			b.open("/proposals/" + id).is(http.StatusOK).says(c.says[len(c.says)-1])
			b.open("/inbox").saysNot("Confirm #")
		})
	}
}

// A fault of ours is no outcome: the page says that nothing was done, and the card is as it was.
func TestAFaultIsNoOutcomeInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.console("maria@harbor.example")
	id, _ := w.signIn("maria@harbor.example").rename("4", "reviewer")
	mend := w.failOn("countersign.events", "INSERT", "P0001")
	b.decide(id, "confirm").is(http.StatusServiceUnavailable).says("nothing was changed").saysNot(canary)
	if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
		t.Errorf("the role is called %s", got)
	}
	mend()
	b.decide(id, "confirm").is(http.StatusOK).says("Applied. You confirmed it.")
	w.invariants()
}

// Each way that a proposal ends without a write, and the list of what ended so.
func TestEveryEndInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria, b := w.signIn("maria@harbor.example"), w.console("maria@harbor.example")
	before := w.sql(`SELECT string_agg(r::text, ';' ORDER BY id) FROM core.roles r`)
	propose := func(role string) string { return first2(maria.rename(role, "name of "+role)) }
	rejected, withdrawn, lapsed := propose("1"), propose("2"), propose("3")
	b.decide(rejected, "extend").says("There is more time now.", "Given more time")
	card := b.open("/proposals/" + rejected)
	b.decide(rejected, "reject", "reason", "Not now.").says("Rejected. You rejected it. Nothing was changed.", "Not now.")
	b.press(card, "/proposals/"+rejected+"/confirm").says("It had been decided before you pressed the button.", "Rejected.")
	b.press(card, "/proposals/"+rejected+"/reject").says("Rejected.")
	b.decide(withdrawn, "withdraw").says("Withdrawn. You withdrew it.")
	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE status = 'pending'`)
	b.open("/proposals/"+lapsed).says("Expired", "Nobody decided it in time.").saysNot("Confirm #")
	b.open("/inbox").says("Nothing waits for you")
	for show, one := range map[string]string{"rejected": "1", "lapsed": "2 3", "applied": "", "open": ""} {
		list := b.open("/history?show=" + show).is(http.StatusOK)
		for _, role := range []string{"1", "2", "3"} {
			if has := strings.Contains(list.text(), "name of "+role); has != strings.Contains(one, role) {
				t.Errorf("%s: has %s: %v\n%s", show, role, has, list.text())
			}
		}
	}
	if now := w.sql(`SELECT string_agg(r::text, ';' ORDER BY id) FROM core.roles r`); now != before {
		t.Errorf("the roles are %s", now)
	}
	w.exec(`DELETE FROM countersign.proposals`) // as retention does
	b.open("/proposals/" + rejected).is(http.StatusNotFound)
	b.open("/history").says("Nothing has been decided yet")
}

// A change of many is written to exactly those that the card counted, all or none.
func TestAChangeOfManyInTheConsole(t *testing.T) {
	t.Parallel()
	const third = `UPDATE mrp.production_orders SET status = 'released' WHERE order_number = 'PO-1042'`
	const priorities = `SELECT string_agg(priority::text, ' ' ORDER BY order_number) FROM mrp.production_orders WHERE site = 'harbor-mill' AND order_number IN ('PO-1039', 'PO-1040', 'PO-1042')`
	for between, c := range map[string]struct{ says, priorities string }{
		third: {"Applied. You confirmed it.", "2 2 3"},
		`UPDATE mrp.production_orders SET status = 'planned' WHERE order_number = 'PO-1040'`: {"1 of the 2 records are changed after the card was made, so none was written.", "3 5 3"},
		`DELETE FROM crp.operations; DELETE FROM mrp.production_orders WHERE order_number = 'PO-1040'; INSERT INTO mrp.production_orders (site, order_number, item, quantity, unit, status, priority, planned_start, planned_finish, due_date)
			VALUES ('harbor-mill', 'PO-1040', 'FG', 1, 'keg', 'released', 5, '2026-06-01', '2026-06-02', '2026-06-03')`: {"1 of the 2 records are no longer there, so none was written.", "3 5 3"},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			b := w.console("maria@harbor.example")
			talk := b.press(b.open("/conversations"), "/conversations", "content", "Set priority 2 on all released orders").says("2 records", "PO-1039", "PO-1040")
			w.exec(between)
			id := w.proposal()
			b.press(talk, "/proposals/"+id+"/confirm").is(http.StatusOK).says(c.says)
			if got := w.sql(priorities); got != c.priorities {
				t.Errorf("the priorities are %s, want %s", got, c.priorities)
			}
			w.invariants()
		})
	}
}

// A preview says before and after that it changes nothing.
func TestAPreviewInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.console("maria@harbor.example")
	const all = `SELECT string_agg(o.xmin || o::text, ';' ORDER BY id) FROM crp.operations o`
	before := w.sql(all)
	id := w.signIn("maria@harbor.example").act("crp.operation", "crp.adjust_schedule",
		vars{"operation": w.sql(`SELECT min(id) FROM crp.operations WHERE site = 'harbor-mill' AND order_id = ` + w.orderID("PO-1042")), "day": "2026-06-03"}).text("proposeChange.result.id")
	b.open("/proposals/" + id).says("Confirming records your decision and changes nothing.")
	b.decide(id, "confirm").says("Applied. You confirmed it.", "Nothing was changed, as the card said")
	if now := w.sql(all); now != before {
		t.Errorf("it was %s and is %s", before, now)
	}
	w.invariants()
}

// A delete on which others have come to depend is refused in words that give nothing away.
func TestADeleteWithDependentsInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	deletable(t, w)
	maria, b := w.signIn("maria@harbor.example"), w.console("maria@harbor.example")
	w.exec(`CREATE TABLE public.badges (id int PRIMARY KEY, role bigint REFERENCES core.roles ON DELETE CASCADE); INSERT INTO public.badges VALUES (1, 7), (2, 7)`)
	id, _ := maria.remove("7")
	card := b.open("/proposals/"+id).says("What else would change", "public.badges", "2 rows deleted")
	w.exec(`UPDATE core.users SET role_id = 7 WHERE email = 'sam@harbor.example'`)
	b.press(card, "/proposals/"+id+"/confirm").is(http.StatusOK).says("Not applied. You confirmed it.").saysNot("foreign key", "users_role_id_fkey", "violates")
	if w.there("7") != "1" || w.sql(`SELECT count(*) FROM public.badges`) != "2" {
		t.Error("something of it is gone")
	}
	w.invariants()
}

// proposal is the id of the newest.
func (w *world) proposal() string {
	w.t.Helper()
	return w.signIn("rosa@harbor.example").gql(`{ proposals(first: 1) { edges { node { id } } } }`, nil).text("proposals.edges.0.node.id")
}
