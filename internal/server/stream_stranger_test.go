package server_test

import (
	"testing"
)

// Somebody's transaction in the same database, open all the while, with a snapshot, a number, locks and a
// notification of its own, delays neither a deed nor who is told of it.
func TestAStrangersTransactionDelaysNobody(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	stranger, err := w.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Rollback(t.Context()) }()
	for _, statement := range []string{
		`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`, `SELECT pg_current_xact_id()`,
		`SELECT count(*) FROM countersign.events, countersign.proposals, countersign.feed, countersign.feed_queue`,
		`UPDATE core.roles SET name = name WHERE id = 6`, `NOTIFY countersign_feed, '1'`,
	} {
		if _, err := stranger.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	here := maria.follows(nil)
	there := (&client{w: &world{t: t, db: w.db, url: w.serve()}, token: maria.token}).follows(nil)
	for i := range 10 {
		id, fingerprint := maria.rename("4", name(i))
		maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
		for _, s := range []*wire{here, there} {
			if e := s.events(2); e[0].Type != "PROPOSED" || e[1].Type != "APPLIED" || e[1].ProposalID != id {
				t.Errorf("told of %+v", e)
			}
		}
	}
}
