package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/retention"
)

// sweeps deletes what is older than 30 days, and says how many proposals that were.
func (w *world) sweeps() int {
	w.t.Helper()
	n, err := retention.New(w.db.Pools.Worker, 30, slog.New(slog.NewTextHandler(io.Discard, nil))).Sweep(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// aged makes it so many days ago that a proposal ended, or lapsed, and that its calls were made.
func (w *world) aged(days int, proposals ...string) {
	w.t.Helper()
	for _, one := range proposals {
		which, err := id.ParseProposal(one)
		if err != nil {
			w.t.Fatal(err)
		}
		key := which.UUID().String()
		w.exec(`ALTER TABLE countersign.proposals DISABLE TRIGGER proposals_guard`)
		w.exec(`UPDATE countersign.proposals SET created_at = created_at - make_interval(days => $2), expires_at = expires_at - make_interval(days => $2), resolved_at = resolved_at - make_interval(days => $2) WHERE id = $1::text::uuid`, key, days)
		w.exec(`ALTER TABLE countersign.proposals ENABLE TRIGGER proposals_guard`)
		w.exec(`UPDATE countersign.tool_calls SET started_at = started_at - make_interval(days => $2), finished_at = finished_at - make_interval(days => $2) WHERE proposal_id = $1::text::uuid`, key, days)
	}
}

// left lists what there is of a proposal, by table.
func (w *world) left(proposal string) string {
	w.t.Helper()
	which, err := id.ParseProposal(proposal)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, table := range []string{"proposals", "proposal_records", "proposal_created", "proposal_decisions", "events", "feed", "idempotency_keys", "tool_calls", "audit_events"} {
		of := map[string]string{"proposals": "id = $1", "feed": "event_id IN (SELECT id FROM countersign.events WHERE proposal_id = $1)"}[table]
		if of == "" {
			of = "proposal_id = $1"
		}
		if n := w.sql(`SELECT count(*) FROM countersign.`+table+` WHERE `+strings.Replace(of, "$1", "$1::text::uuid", 1), which.UUID().String()); n != "0" {
			all = append(all, fmt.Sprintf("%s %s", n, table))
		}
	}
	return strings.Join(all, ", ")
}

func TestRetentionDeletesWhatIsDecidedOrLapsed(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	agent := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	olu := w.signIn("olu@othersite.example")

	old := map[string]string{}
	old["applied, by a key"], _ = func() (string, string) {
		made, fingerprint := maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}, "idempotencyKey": "a key"})
		maria.confirm(made, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
		return made, fingerprint
	}()
	said := maria.say("Rename role 4 to reviewer")
	old["rejected, in a conversation"] = said.text("sendMessage.message.writes.0.id")
	maria.gql(reject, vars{"in": vars{"id": old["rejected, in a conversation"]}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	old["withdrawn, by a token"], _ = agent.rename("5", "onlooker")
	agent.gql(withdraw, vars{"in": vars{"id": old["withdrawn, by a token"]}}).want(vars{"withdrawProposal.result.status": "WITHDRAWN"})
	old["another workspace's"], _ = olu.rename("10", "boss")
	olu.gql(reject, vars{"in": vars{"id": old["another workspace's"]}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	lapsed, _ := agent.rename("5", "watcher")
	stored, _ := maria.rename("5", "spectator")
	superseded, fingerprint := maria.rename("6", "shopper")
	revision, revised := maria.revised(superseded, fingerprint, vars{"name": "purchaser"})
	old["superseded"] = superseded

	young := map[string]string{}
	young["pending"], _ = agent.rename("8", "looker")
	young["awaiting approval"], _ = maria.waiting(w.spare())
	young["revised"] = revision
	maria.confirm(revision, revised).want(vars{"confirmProposal.result.status": "APPLIED"})
	w.sequenced()
	for _, one := range old {
		w.aged(31, one)
	}
	w.aged(32, lapsed, stored)
	old["lapsed"], old["expired"] = lapsed, stored
	w.exec(`UPDATE countersign.proposals SET channel = 'mcp' WHERE token_id IS NOT NULL`)
	w.aged(1, revision)
	w.expires(stored)
	w.sequenced()
	before := map[string]string{}
	for _, one := range young {
		before[one] = w.left(one)
	}
	audited := w.sql(`SELECT count(*) FROM audit_events`)

	if n := w.sweeps(); n != len(old) {
		t.Errorf("%d proposals were deleted, want %d", n, len(old))
	}
	for what, one := range old {
		if got, want := w.left(one), "2 audit_events"; got != want {
			t.Errorf("%s: left are %s, want %s", what, got, want)
		}
		who := map[bool]*client{true: olu, false: maria}[what == "another workspace's"]
		who.gql(show, vars{"id": one}).refused("NOT_FOUND")
		who.confirm(one, fingerprint).refused("NOT_FOUND")
	}
	for what, one := range young {
		if got := w.left(one); got != before[one] {
			t.Errorf("%s: left are %s of %s", what, got, before[one])
		}
		maria.gql(show, vars{"id": one}).want(vars{"proposal.id": one})
	}
	if got := w.sql(`SELECT count(*) FROM audit_events WHERE proposal_id IS NOT NULL AND verb <> 'expire'`); got == "0" || w.sql(`SELECT count(*) - 1 FROM audit_events`) != audited {
		t.Errorf("of %s entries of the audit trail %s are left", audited, got) // and one came: that it had lapsed
	}
	if again := w.sweeps(); again != 0 {
		t.Errorf("%d more were deleted", again)
	}
	w.invariants()
}

// expires stores that one has expired, as the gate's timer does.
func (w *world) expires(proposal string) {
	w.t.Helper()
	which, err := id.ParseProposal(proposal)
	if err != nil {
		w.t.Fatal(err)
	}
	key := which.UUID().String()
	w.exec(`WITH decided AS (INSERT INTO countersign.proposal_decisions (proposal_id, workspace_id, kind, final) SELECT id, workspace_id, 'expire', true FROM countersign.proposals WHERE id = $1::text::uuid RETURNING 1),
		told AS (INSERT INTO countersign.events (id, workspace_id, proposal_id, type, status) SELECT gen_random_uuid(), workspace_id, id, 'expired', 'expired' FROM countersign.proposals WHERE id = $1::text::uuid RETURNING 1)
		INSERT INTO countersign.audit_events (id, workspace_id, verb, outcome, proposal_id) SELECT gen_random_uuid(), workspace_id, 'expire', 'expired', id FROM countersign.proposals WHERE id = $1::text::uuid`, key)
	w.exec(`UPDATE countersign.proposals SET status = 'expired', resolved_at = expires_at WHERE id = $1::text::uuid`, key)
}

func TestAFollowerFromBeforeWhatWasDeletedIsToldSo(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	before := maria.feedCursor()
	which, _ := maria.rename("4", "reviewer")
	maria.gql(reject, vars{"in": vars{"id": which}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	w.sequenced()
	after := maria.feedCursor()
	kept, _ := maria.rename("5", "onlooker")
	w.sequenced()
	w.aged(31, which)
	if n := w.sweeps(); n != 1 {
		t.Fatalf("%d were deleted", n)
	}
	maria.gql(follow, vars{"after": before}).refused("CURSOR_EXPIRED")
	if got := maria.events(vars{"after": after}); len(got.Edges) != 1 || got.Edges[0].Node.ProposalID != kept {
		t.Errorf("after it: %+v", got)
	}
}

// What somebody holds is left for the next time, and keeps nothing else back.
func TestRetentionWaitsForNobody(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	decided := func(role, name string) string {
		made, fingerprint := maria.rename(role, name)
		maria.confirm(made, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
		return made
	}
	held, undone, free := decided("4", "reviewer"), decided("5", "onlooker"), decided("6", "shopper")
	revert, _ := maria.reverted(undone)
	w.aged(31, held, undone, free)
	key := func(one string) string {
		which, _ := id.ParseProposal(one)
		return which.UUID().String()
	}
	tx, release := w.hold(`SELECT FROM countersign.proposals WHERE id = $1::text::uuid FOR UPDATE`, key(held))
	if _, err := tx.Exec(t.Context(), `SELECT FROM countersign.proposals WHERE id = $1::text::uuid FOR UPDATE`, key(revert)); err != nil {
		t.Fatal(err)
	}
	if n := w.sweeps(); n != 1 || w.left(free) == "" || !strings.HasSuffix(w.left(free), "audit_events") {
		t.Errorf("%d were deleted, and of the free one there is %s", n, w.left(free))
	}
	for what, one := range map[string]string{"one that is held": held, "one that an undo names which is held": undone} {
		if !strings.HasPrefix(w.left(one), "1 proposals") {
			t.Errorf("%s: left are %s", what, w.left(one))
		}
	}
	release()
	if n := w.sweeps(); n != 2 {
		t.Errorf("%d were deleted then", n)
	}
	maria.gql(show, vars{"id": revert}).want(vars{"proposal.status": "PENDING", "proposal.revertOf": nil})
}

// A confirm that holds a proposal which lapses meanwhile has it until it is done.
func TestWhatIsBeingDecidedIsNotDeleted(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	made, fingerprint := maria.rename("4", "reviewer")
	_, release := w.hold(`SELECT FROM core.roles WHERE id = 4 FOR UPDATE`)
	answers := make(chan *answer, 1)
	go func() { answers <- maria.confirm(made, fingerprint) }()
	pgtest.WaitBlocked(t, w.db, 1)
	n, err := retention.New(w.db.Pools.Worker, -1, slog.New(slog.NewTextHandler(io.Discard, nil))).Sweep(context.WithoutCancel(t.Context())) // as if it were old: it is not final, and held
	if err != nil || n != 0 {
		t.Errorf("%d deleted under it, %v", n, err)
	}
	release()
	(<-answers).want(vars{"confirmProposal.result.status": "APPLIED"})
	w.invariants()
}
