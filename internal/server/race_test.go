package server_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

// hold runs a statement as the owner in a transaction that stays open until release is called.
func (w *world) hold(statement string, args ...any) (tx pgx.Tx, release func()) {
	w.t.Helper()
	tx, err := w.db.Owner.Begin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := tx.Exec(w.t.Context(), statement, args...); err != nil {
		w.t.Fatal(err)
	}
	return tx, func() {
		if err := tx.Commit(w.t.Context()); err != nil {
			w.t.Error(err)
		}
	}
}

// together runs n calls at once; it waits until as many of them as a proposal lets through are parked, lets
// go, and gives their answers.
func (w *world) together(n, parked int, release func(), call func(i int) *answer) []*answer {
	w.t.Helper()
	answers := make([]*answer, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = call(i) })
	}
	pgtest.WaitBlocked(w.t, w.db, parked)
	release()
	all.Wait()
	return answers
}

// logWrites keeps every write of a role in a log that the product knows nothing of.
func (w *world) logWrites() {
	w.exec(`CREATE TABLE public.change_log (id bigint, name text)`)
	w.exec(`GRANT INSERT ON public.change_log TO PUBLIC`)
	w.exec(`CREATE FUNCTION public.log_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.change_log VALUES (NEW.id, NEW.name); RETURN NEW; END $$`)
	w.exec(`CREATE TRIGGER log_change AFTER INSERT OR UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION public.log_change()`)
}

func TestAnEditThatCommitsWhileConfirmWaitsIsKept(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]struct{ statement, code, after string }{
		"another column": {`UPDATE core.roles SET description = 'edited' WHERE id = 4`, "RECORD_CHANGED", "editor"},
		"the same value": {`UPDATE core.roles SET name = 'theirs' WHERE id = 4`, "RECORD_CHANGED", "theirs"},
		"gone":           {`DELETE FROM core.roles WHERE id = 4`, "RECORD_GONE", "null"},
		"nothing":        {`SELECT FROM core.roles WHERE id = 4 FOR UPDATE`, "", "reviewer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := w.signIn("maria@harbor.example")
			w.exec(`UPDATE core.users SET role_id = 1 WHERE role_id = 4`)
			id, fingerprint := maria.rename("4", "reviewer")
			_, release := w.hold(edit.statement)
			a := w.together(1, 1, release, func(int) *answer { return maria.confirm(id, fingerprint) })[0]
			if edit.code == "" {
				a.want(vars{"confirmProposal.result.status": "APPLIED"})
			} else {
				a.want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": edit.code})
			}
			if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != edit.after {
				t.Errorf("the role is called %s, want %s", got, edit.after)
			}
			w.invariants()
		})
	}
}

func TestTwentyConfirmsOnTwoServers(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.logWrites()
	urls := []string{w.url, w.serve()}
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	_, release := w.hold(`SELECT FROM countersign.proposals FOR UPDATE`)
	for _, a := range w.together(20, 8, release, func(i int) *answer {
		return (&client{w: w, url: urls[i%2], token: maria.token}).confirm(id, fingerprint)
	}) {
		a.want(vars{"confirmProposal.result.__typename": "Proposal", "confirmProposal.result.status": "APPLIED"})
	}
	for what, query := range map[string]string{
		"writes":         `SELECT count(*) FROM public.change_log`,
		"decisions":      `SELECT count(*) FROM countersign.proposal_decisions WHERE final`,
		"APPLIED events": `SELECT count(*) FROM countersign.events WHERE type = 'applied'`,
		"confirm calls":  `SELECT count(*) FROM countersign.tool_calls WHERE tool = 'confirm'`,
	} {
		if n := w.sql(query); n != "1" {
			t.Errorf("%s: %s, want 1", what, n)
		}
	}
	w.invariants()
}

func TestConfirmRejectAndWithdrawAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.logWrites()
	urls := []string{w.url, w.serve()}
	maria := w.signIn("maria@harbor.example")
	for round := range 10 {
		name := fmt.Sprintf("round %d", round)
		id, fingerprint := maria.rename("4", name)
		_, release := w.hold(`SELECT FROM countersign.proposals WHERE status = 'pending' FOR UPDATE`)
		w.together(12, 8, release, func(i int) *answer {
			c := &client{w: w, url: urls[i%2], token: maria.token}
			switch i % 3 {
			case 0:
				return c.confirm(id, fingerprint)
			case 1:
				return c.gql(reject, vars{"in": vars{"id": id}})
			}
			return c.gql(withdraw, vars{"in": vars{"id": id}})
		})
		status := maria.gql(show, vars{"id": id}).text("proposal.status")
		written := w.sql(`SELECT count(*) FROM public.change_log WHERE name = $1`, name)
		if (status == "APPLIED") != (written == "1") || written != "0" && written != "1" {
			t.Errorf("%s ended %s and was written %s times", name, status, written)
		}
		kind := map[string]string{"APPLIED": "confirm", "REJECTED": "reject", "WITHDRAWN": "withdraw"}[status]
		if got := w.sql(`SELECT string_agg(kind::text, ' ') FROM countersign.proposal_decisions d JOIN countersign.proposals p ON p.id = d.proposal_id WHERE p.headline LIKE '%' || $1 || '%'`, name); got != kind {
			t.Errorf("%s ended %s by the decisions %q", name, status, got)
		}
	}
	w.invariants()
}

func TestRightsLostWhileConfirmWaits(t *testing.T) {
	t.Parallel()
	for name, loss := range map[string]string{
		"signed out":         `UPDATE countersign.sign_ins SET ended_at = clock_timestamp()`,
		"disabled":           `UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email = 'maria@harbor.example'`,
		"membership removed": `DELETE FROM countersign.memberships m USING countersign.users u WHERE u.id = m.user_id AND u.email = 'maria@harbor.example'`,
		"made an auditor":    `UPDATE countersign.memberships m SET role = 'auditor' FROM countersign.users u WHERE u.id = m.user_id AND u.email = 'maria@harbor.example'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := w.signIn("maria@harbor.example")
			id, fingerprint := maria.rename("4", "reviewer")
			tx, release := w.hold(`SELECT FROM countersign.proposals FOR UPDATE`)
			w.together(1, 1, func() {
				if _, err := tx.Exec(t.Context(), loss); err != nil {
					t.Error(err)
				}
				release()
			}, func(int) *answer { return maria.confirm(id, fingerprint) })[0].refused("FORBIDDEN")
			if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
				t.Errorf("the role is called %s", got)
			}
			w.invariants()
		})
	}
}

func TestExpiryIsEvaluatedWithEveryTimerOff(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	maria.gql(`{ actionableCount }`, nil).want(vars{"actionableCount": 1})
	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp()`)
	maria.gql(show, vars{"id": id}).want(vars{"proposal.status": "EXPIRED", "proposal.viewerActions": []any{}})
	maria.gql(`{ open: proposals(filter: {status: [PENDING]}) { edges { node { id } } } lapsed: proposals(filter: {status: [EXPIRED]}) { edges { node { status } } }
		mine: proposals(filter: {actionable: true}) { edges { node { id } } } actionableCount }`, nil).want(vars{
		"open.edges": []any{}, "lapsed.edges.0.node.status": "EXPIRED", "mine.edges": []any{}, "actionableCount": 0})
	if stored := w.sql(`SELECT status FROM countersign.proposals`); stored != "pending" {
		t.Fatalf("reading stored %s", stored)
	}
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": "AlreadyDecided", "confirmProposal.result.proposal.status": "EXPIRED"})
	if stored := w.sql(`SELECT status || ' ' || (SELECT count(*) FROM countersign.events WHERE type = 'expired') FROM countersign.proposals`); stored != "expired 1" {
		t.Errorf("the decision that met it left %s", stored)
	}
	w.invariants()
}

func TestTheTimerStoresAnExpiryOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	second := w.serve()
	maria := w.signIn("maria@harbor.example")
	id, _ := maria.rename("4", "reviewer")
	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp()`)
	(&client{w: w, url: second, token: maria.token}).gql(reject, vars{"in": vars{"id": id}}).want(vars{"rejectProposal.result.__typename": "AlreadyDecided"})
	if n := w.sql(`SELECT count(*) FROM countersign.events WHERE type = 'expired'`); n != "1" {
		t.Errorf("%s events", n)
	}
	w.invariants()
}

func TestAConfirmThatGetsItsLockAfterTheExpiryIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	tx, release := w.hold(`SELECT FROM countersign.proposals FOR UPDATE`)
	w.together(1, 1, func() {
		if _, err := tx.Exec(t.Context(), `UPDATE countersign.proposals SET expires_at = clock_timestamp()`); err != nil {
			t.Error(err)
		}
		release()
	}, func(int) *answer { return maria.confirm(id, fingerprint) })[0].want(vars{
		"confirmProposal.result.__typename": "AlreadyDecided", "confirmProposal.result.proposal.status": "EXPIRED"})
	if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
		t.Errorf("the role is called %s", got)
	}
	w.invariants()
}
