package server_test

import (
	"strings"
	"testing"
)

const canary = "canary-7f3a"

// failOn makes every write of a table fail with a text that must go nowhere.
func (w *world) failOn(table, when, sqlstate string) (mend func()) {
	w.exec(`CREATE OR REPLACE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION '` + canary + ` %', TG_TABLE_NAME USING ERRCODE = '` + sqlstate + `', DETAIL = '` + canary + `'; END $$`)
	w.exec(`CREATE TRIGGER fail BEFORE ` + when + ` ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION public.fail()`)
	return func() { w.exec(`DROP TRIGGER fail ON ` + table) }
}

func TestWhatTheDatabaseSaysOfTheWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sqlstate, code string }{
		{"23514", "CONSTRAINT_VIOLATION"}, {"23505", "CONSTRAINT_VIOLATION"}, {"23503", "CONSTRAINT_VIOLATION"}, {"23502", "CONSTRAINT_VIOLATION"},
		{"22001", "INVALID_VALUE"}, {"22003", "INVALID_VALUE"}, {"P0001", "SOURCE_REFUSED"}, {"CS777", "SOURCE_REFUSED"},
		{"42501", "NOT_PERMITTED"}, {"42P01", "SOURCE_REFUSED"}, {"42703", "SOURCE_REFUSED"},
	} {
		t.Run(c.sqlstate, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := w.signIn("maria@harbor.example")
			id, fingerprint := maria.rename("4", "reviewer")
			w.failOn("core.roles", "UPDATE", c.sqlstate)
			a := maria.confirm(id, fingerprint)
			a.want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": c.code})
			if strings.Contains(a.raw, canary) {
				t.Errorf("PostgreSQL's words came out: %s", a.raw)
			}
			if got := w.sql(`SELECT (SELECT name FROM core.roles WHERE id = 4) || ' ' || (SELECT status || ' ' || code FROM countersign.tool_calls WHERE tool = 'confirm')`); got != "editor failed "+strings.ToLower(c.code) {
				t.Errorf("left: %s", got)
			}
			if leak := w.sql(`SELECT count(*) FROM countersign.proposals WHERE proposals::text LIKE '%` + canary + `%'`); leak != "0" {
				t.Error("PostgreSQL's words were stored")
			}
			w.invariants()
		})
	}
}

func TestAFaultOutsideTheWriteLeavesItPending(t *testing.T) {
	t.Parallel()
	for _, f := range []struct{ table, when, sqlstate string }{
		{"countersign.proposals", "UPDATE", "P0001"}, {"countersign.tool_calls", "INSERT", "P0001"}, {"countersign.audit_events", "INSERT", "P0001"},
		{"countersign.events", "INSERT", "P0001"}, {"countersign.proposal_decisions", "INSERT", "P0001"},
		{"core.roles", "UPDATE", "40001"}, {"core.roles", "UPDATE", "40P01"}, {"core.roles", "UPDATE", "55P03"}, {"core.roles", "UPDATE", "57014"}, {"core.roles", "UPDATE", "53100"},
	} {
		t.Run(f.table+" "+f.sqlstate, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := w.signIn("maria@harbor.example")
			id, fingerprint := maria.rename("4", "reviewer")
			mend := w.failOn(f.table, f.when, f.sqlstate)
			a := maria.confirm(id, fingerprint)
			a.refused("UNAVAILABLE")
			if strings.Contains(a.raw, canary) {
				t.Errorf("PostgreSQL's words came out: %s", a.raw)
			}
			if got := w.sql(`SELECT (SELECT name FROM core.roles WHERE id = 4) || ' ' || (SELECT status FROM countersign.proposals) || ' ' || (SELECT count(*) FROM countersign.proposal_decisions)`); got != "editor pending 0" {
				t.Errorf("left: %s", got)
			}
			mend()
			maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
			w.invariants()
		})
	}
}

func TestATriggerThatChangesTheValueIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	w.exec(`CREATE FUNCTION public.shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := upper(NEW.name); RETURN NEW; END $$`)
	w.exec(`CREATE TRIGGER shout BEFORE UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION public.shout()`)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "SOURCE_REFUSED"})
	if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
		t.Errorf("the role is called %s", got)
	}
	w.invariants()
}

func TestADeferredConstraintRefusesInTheSameTransaction(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	w.exec(`CREATE FUNCTION public.later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '` + canary + `' USING ERRCODE = '23514'; END $$`)
	w.exec(`CREATE CONSTRAINT TRIGGER later AFTER UPDATE ON core.roles DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.later()`)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "CONSTRAINT_VIOLATION"})
	w.invariants()
}

func TestTheRowIsUntouchedByARefusedWrite(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	w.exec(`UPDATE core.roles SET description = 'x' WHERE id = 4`)
	before := w.sql(`SELECT xmin || ' ' || roles::text FROM core.roles WHERE id = 4`)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.failure.code": "RECORD_CHANGED"})
	if after := w.sql(`SELECT xmin || ' ' || roles::text FROM core.roles WHERE id = 4`); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
}

func TestTheConfigurationHoldsWhenConfirming(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, code string }{
		"the operation is gone": {"      update:\n", "", "SWITCHED_OFF"},
		"not for this role":     {"      update:\n", "      update: { roles: [OPERATOR] }\n", "NOT_PERMITTED"},
		"reading is gone":       {"      get:\n", "", "RECORD_UNREADABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := w.signIn("maria@harbor.example")
			id, fingerprint := maria.rename("4", "reviewer")
			yaml := registryWith(t, c.from, c.to)
			narrowed := &client{w: w, url: w.serve(yaml), token: maria.token}
			narrowed.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": c.code})
			if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
				t.Errorf("the role is called %s", got)
			}
			w.invariants()
		})
	}
}
