package server_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

const tried = `mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { result { __typename
	... on Proposal { id fingerprint status rehearsal { status sideEffects { table operation rows } alsoSets { field label type from { text json masked } to { text json masked isNull } } } }
	... on ProposalRefused { code message field } } } }`

func (c *client) tries(in vars) *answer { c.w.t.Helper(); return c.gql(tried, vars{"in": in}) }

func renaming(role, name string) vars {
	return vars{"entity": "core.role", "operation": "UPDATE", "recordId": role, "changes": vars{"name": name}}
}

// journal is a table behind core.roles that no registry names, and one behind that.
const journal = `
	CREATE TABLE public.journal (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, role bigint REFERENCES core.roles ON DELETE CASCADE, word text);
	CREATE TABLE public.pages (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, entry bigint REFERENCES public.journal ON DELETE CASCADE);
	CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO public.journal (role, word) VALUES (NEW.id, NEW.name); RETURN NULL; END $$;`

// The one refusal there is comes from a constraint trigger that waits for the commit, on a table that no
// registry names.
func TestWhatTheDatabaseWouldRefuseIsNotProposed(t *testing.T) {
	t.Parallel()
	log := &logged{}
	w := start(t, func(c *server.Config) {
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	maria := w.signIn("maria@harbor.example")
	w.exec(journal + `
		CREATE TRIGGER note AFTER UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION public.note();
		CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			RAISE EXCEPTION '` + canary + ` % %', NEW.word, NEW USING ERRCODE = '23514', DETAIL = '` + canary + `'; END $$;
		CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON public.journal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.refuse()`)
	before := w.sql(`SELECT xmin || ' ' || roles::text FROM core.roles WHERE id = 4`)
	a := maria.tries(renaming("4", canary))
	a.want(vars{"proposeChange.result.__typename": "ProposalRefused", "proposeChange.result.code": "WOULD_FAIL", "proposeChange.result.field": "name",
		"proposeChange.result.message": "A rule of the database refused this value (name)."})
	said := maria.say("Rename role 4 to " + canary + "-two")
	if said.want(vars{"sendMessage.message.writes": []any{}}); !strings.Contains(said.text("sendMessage.message.content"), "A rule of the database refused this value (name).") {
		t.Errorf("the assistant says %s", said.raw)
	}
	if got := w.sql(`SELECT xmin || ' ' || roles::text FROM core.roles WHERE id = 4`); got != before || w.sql(`SELECT count(*) FROM public.journal`) != "0" {
		t.Errorf("something is left behind: %s", got)
	}
	if strings.Contains(a.raw, canary) || strings.Contains(log.String(), canary) {
		t.Errorf("a value came out: %s\n%s", a.raw, log.String())
	}
	if got := w.sql(`SELECT string_agg(DISTINCT status || ' ' || code, ', ') || ' ' || (SELECT count(*) FROM countersign.proposals) FROM countersign.tool_calls`); got != "refused WOULD_FAIL 0" {
		t.Errorf("the calls: %s", got)
	}
	w.exec(`DROP TRIGGER refuse ON public.journal`)
	maria.tries(renaming("4", "reviewer")).want(vars{"proposeChange.result.status": "PENDING",
		"proposeChange.result.rehearsal.sideEffects": []any{vars{"table": "public.journal", "operation": "INSERT", "rows": 1}}})
	w.invariants()
}

func TestWhatCascadesTwoTablesAwayIsOnTheCard(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	w.exec(journal + `
		INSERT INTO public.journal (role, word) VALUES (7, 'a'), (7, 'b'), (8, 'c');
		INSERT INTO public.pages (entry) SELECT 1 + n % 2 FROM generate_series(1, 5) AS n`)
	a := maria.tries(vars{"entity": "core.role", "operation": "DELETE", "recordId": "7"})
	a.want(vars{"proposeChange.result.rehearsal": vars{"status": "PASSED", "alsoSets": []any{}, "sideEffects": []any{
		vars{"table": "public.journal", "operation": "DELETE", "rows": 2}, vars{"table": "public.pages", "operation": "DELETE", "rows": 5}}}})
	if n := w.sql(`SELECT count(*) FROM public.pages`); n != "5" {
		t.Errorf("%s pages are left", n)
	}
	if status, page := maria.get("/proposals/" + a.text("proposeChange.result.id")); status != 200 || !strings.Contains(page, "public.pages") || !strings.Contains(page, "5 rows deleted") {
		t.Errorf("the card: %d %s", status, page)
	}
	w.invariants()
}

func TestARehearsalInTheWayStopsNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	tx, err := w.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), `SELECT FROM core.roles WHERE id = 4 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	a := maria.tries(renaming("4", "reviewer"))
	a.want(vars{"proposeChange.result.status": "PENDING", "proposeChange.result.rehearsal": vars{"status": "NO_LOCK", "sideEffects": []any{}, "alsoSets": []any{}}})
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	maria.confirm(a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint")).want(vars{"confirmProposal.result.status": "APPLIED"})
	w.invariants()
}

func TestSwitchedOffNothingIsTried(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "rehearse: true", "rehearse: false"))
	maria := w.signIn("maria@harbor.example")
	w.failOn("core.roles", "UPDATE OR INSERT OR DELETE", "23514")
	for _, in := range []vars{renaming("4", "reviewer"), {"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "guest"}}, {"entity": "core.role", "operation": "DELETE", "recordId": "7"}} {
		a := maria.tries(in)
		a.want(vars{"proposeChange.result.status": "PENDING", "proposeChange.result.rehearsal.status": "SKIPPED"})
		if in["operation"] == "UPDATE" {
			maria.confirm(a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint")).want(vars{"confirmProposal.result.status": "FAILED",
				"confirmProposal.result.failure": vars{"code": "CONSTRAINT_VIOLATION", "field": "name", "message": "A rule of the database refused this value (name)."}})
		}
	}
	w.invariants()
}

// Every tool that proposes meets a database whose tables refuse every write: nothing is written.
func TestToolsThatProposeWriteNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	order := w.sql(order)
	for _, table := range []string{"core.roles", "mrp.production_orders"} {
		w.failOn(table, "UPDATE OR INSERT OR DELETE", "P0001")
	}
	for _, in := range []vars{
		renaming("4", "reviewer"), {"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "guest"}}, {"entity": "core.role", "operation": "DELETE", "recordId": "7"},
		{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": order, "changes": vars{"priority": 2}},
		{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"status": "released"}, "changes": vars{"priority": 2}},
	} {
		maria.tries(in).want(vars{"proposeChange.result.code": "WOULD_FAIL", "proposeChange.result.message": "A rule of the database refused this change."})
	}
	if n := w.sql(`SELECT count(*) FROM countersign.proposals`); n != "0" {
		t.Errorf("%s proposals", n)
	}
}

// What a trigger makes of a value is shown, and then it is what is confirmed: that and nothing else.
func TestWhatATriggerMakesOfAValueIsShownAndHolds(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	shout := func(word string) {
		w.exec(`CREATE OR REPLACE FUNCTION public.shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := ` + word + `; NEW.description := 'shouted'; RETURN NEW; END $$`)
	}
	shout(`upper(NEW.name)`)
	w.exec(`CREATE TRIGGER shout BEFORE INSERT OR UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION public.shout()`)
	a := maria.tries(renaming("4", "reviewer"))
	a.want(vars{"proposeChange.result.rehearsal.alsoSets.0": vars{"field": "name", "label": "Name", "type": "TEXT",
		"from": vars{"text": "editor", "json": "editor", "masked": false}, "to": vars{"text": "REVIEWER", "json": "REVIEWER", "masked": false, "isNull": false}},
		"proposeChange.result.rehearsal.alsoSets.1.field": "description", "proposeChange.result.rehearsal.alsoSets.1.to.text": "shouted",
		"proposeChange.result.rehearsal.alsoSets.2.field": "updated_at"})
	again := maria.tries(renaming("5", "onlooker"))
	maria.confirm(a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint")).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome.record.name": "REVIEWER"})
	shout(`'another'`)
	maria.confirm(again.text("proposeChange.result.id"), again.text("proposeChange.result.fingerprint")).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "SOURCE_REFUSED"})
	made := maria.tries(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "guest"}})
	made.want(vars{"proposeChange.result.rehearsal.alsoSets.0.to.text": "another", "proposeChange.result.rehearsal.alsoSets.0.from": nil})
	w.invariants()
}

// Of a masked field it is shown that it is set, and no more.
func TestAMaskedFieldIsSetAndNotShown(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "      description: { writable: true }\n", "      description: { writable: true, masked: true }\n"))
	maria := w.signIn("maria@harbor.example")
	w.exec(`CREATE FUNCTION public.seal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.description := '` + canary + `' || clock_timestamp(); RETURN NEW; END $$;
		CREATE TRIGGER seal BEFORE UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION public.seal()`)
	beyond := maria.tries(renaming("4", "reviewer"))
	asked := maria.tries(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "5", "changes": vars{"description": "plain"}})
	for _, a := range []*answer{beyond, asked} {
		a.want(vars{"proposeChange.result.rehearsal.alsoSets.0.field": "description", "proposeChange.result.rehearsal.alsoSets.0.from.masked": true,
			"proposeChange.result.rehearsal.alsoSets.0.to.masked": true, "proposeChange.result.rehearsal.alsoSets.0.to.json": nil})
		if strings.Contains(a.raw, canary) {
			t.Errorf("a masked value came out: %s", a.raw)
		}
		maria.confirm(a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint")).want(vars{"confirmProposal.result.status": "APPLIED"})
	}
	if n := w.sql(`SELECT count(*) FROM countersign.proposals WHERE rehearsal::text LIKE '%` + canary + `%'`); n != "0" {
		t.Error("a masked value was stored")
	}
	w.invariants()
}

// A set says once what all of its records have in common.
func TestASetIsTriedWhole(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	w.exec(`CREATE FUNCTION public.least() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.priority := greatest(NEW.priority, 4); NEW.notes := NEW.order_number; RETURN NEW; END $$;
		CREATE TRIGGER least BEFORE UPDATE ON mrp.production_orders FOR EACH ROW EXECUTE FUNCTION public.least()`)
	a := maria.tries(vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"status": "released"}, "changes": vars{"priority": 2}})
	a.want(vars{"proposeChange.result.rehearsal.status": "PASSED", "proposeChange.result.rehearsal.sideEffects": []any{},
		"proposeChange.result.rehearsal.alsoSets.0": vars{"field": "priority", "label": "Priority", "type": "INTEGER", "from": nil, "to": vars{"text": "4", "json": 4, "masked": false, "isNull": false}},
		"proposeChange.result.rehearsal.alsoSets.1": vars{"field": "notes", "label": "Notes", "type": "TEXT", "from": nil, "to": nil}})
	id := a.text("proposeChange.result.id")
	if got := w.sql(`SELECT rehearsal #>> '{alsoSets,0,positions}' FROM countersign.proposals`); got != "[1, 2]" {
		t.Errorf("the records whose priority is another: %s", got)
	}
	maria.confirm(id, a.text("proposeChange.result.fingerprint")).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome.affectedRecords": 2})
	if n := w.sql(`SELECT count(*) FROM mrp.production_orders WHERE priority = 4 AND status = 'released' AND site = 'harbor-mill'`); n != "2" {
		t.Errorf("%s orders have the priority the card showed", n)
	}
	w.invariants()
}

func TestWhoHasNoRightToItDoesNotPropose(t *testing.T) {
	t.Parallel()
	for what, take := range map[string]string{
		"a grant":  `REVOKE UPDATE ON core.roles FROM harbor_write`,
		"a policy": `CREATE POLICY no_editor ON core.roles AS RESTRICTIVE FOR UPDATE TO harbor_write USING (name <> 'editor')`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			token := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
			token.tries(renaming("5", "onlooker")).want(vars{"proposeChange.result.rehearsal.status": "PASSED"})
			w.exec(take)
			token.tries(renaming("4", "reviewer")).want(vars{"proposeChange.result.code": "WOULD_FAIL", "proposeChange.result.message": "You have no right to make this change."})
		})
	}
}

// Confirms that wait hold all of the gate's connections: who proposes meanwhile waits a little and no more.
func TestProposalsDoNotWaitForEachOthersConnections(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	type pair struct{ id, fingerprint string }
	waiting := make([]pair, 10)
	for i := range waiting {
		waiting[i].id, waiting[i].fingerprint = maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "role " + string(rune('a'+i))}})
	}
	order := w.sql(order)
	tx, err := w.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), `LOCK core.roles IN SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, p := range waiting {
		all.Go(func() { maria.confirm(p.id, p.fingerprint) })
	}
	pgtest.WaitBlocked(t, w.db, len(waiting))
	answers := make([]*answer, 20)
	for i := range answers {
		all.Go(func() {
			answers[i] = maria.tries(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": order, "changes": vars{"notes": strings.Repeat("x", i+1)}})
		})
	}
	all.Wait()
	for _, a := range answers {
		if len(a.Errors) > 0 {
			a.refused("UNAVAILABLE")
			continue
		}
		a.want(vars{"proposeChange.result.__typename": "Proposal"})
	}
}

// The sentence names the field where the database tells which of several it is.
func TestARefusalNamesTheFieldAmongSeveral(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	order := w.sql(order)
	change := func(changes vars) vars {
		return vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": order, "changes": changes}
	}
	for _, c := range []struct {
		in             vars
		field, message string
	}{
		{vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "viewer", "description": canary}}, "name", "There is another record with this value (name)."},
		{renaming("4", "viewer"), "name", "There is another record with this value (name)."},
		{change(vars{"quantity": 0, "notes": canary}), "quantity", "A rule of the database refused this value (quantity)."},
		{change(vars{"priority": 99, "notes": canary}), "priority", "A rule of the database refused this value (priority)."},
		{change(vars{"planned_finish": "2026-05-01", "notes": canary}), "planned_finish", "A rule of the database refused this value (planned_finish)."},
		{change(vars{"planned_finish": "2026-05-01", "planned_start": "2026-05-02"}), "", "A rule of the database refused this value."},
		{vars{"entity": "core.role", "operation": "DELETE", "recordId": "1"}, "", "Another record depends on this one, or the one it refers to is not there."},
	} {
		a := maria.tries(c.in)
		a.want(vars{"proposeChange.result.code": "WOULD_FAIL", "proposeChange.result.message": c.message})
		if got, _ := a.at("proposeChange.result.field").(string); got != c.field {
			t.Errorf("%v: field %q, want %q", c.in, got, c.field)
		}
	}
	w.invariants()
}
