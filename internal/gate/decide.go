package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Verdict tells how a decision was answered.
type Verdict int

const (
	// Stands says that this decision stands, or the same one stood already. Look at the proposal's status.
	Stands Verdict = iota
	// AlreadyDecided says that another decision came first.
	AlreadyDecided
	// CardOutdated says that it was taken on another card than the one there is; read the card again.
	CardOutdated
)

// Answer is what became of a decision, with the proposal as it is now.
type Answer struct {
	Verdict  Verdict
	Proposal *sqlc.Proposal
	Message  string
	// Under are the policies it went by, where a person decided.
	Under *Policies
}

// decision is one verb being done, in its transaction.
type decision struct {
	gate  *Gate
	tx    *postgres.Tx
	facts facts
	done  bool // an event was written
	late  bool // it met a proposal that has lapsed
	// written is what the records do, as need takes it
	written  []string
	policies record.Policies
}

const attempts = 3

// decide runs one verb in one READ COMMITTED transaction, again from the start where PostgreSQL says
// that it was unlucky. What do returns an error for is rolled back whole.
func (g *Gate) decide(ctx context.Context, by identity.Person, which id.Proposal, kind sqlc.DecisionKind, do func(context.Context, *decision) (*Answer, error)) (*Answer, error) {
	if !by.Live() {
		return nil, forbidden("Only a person who is signed in decides.")
	}
	leave, err := g.turnstile.enter(ctx, which)
	if err != nil {
		return nil, unavailable(err)
	}
	defer leave()
	for range attempts {
		var answer *Answer
		d := &decision{gate: g}
		err = g.begin(ctx, g.pools.Gate, func(tx *postgres.Tx) error {
			d.tx = tx
			if err := d.read(ctx, by, which, kind); err != nil {
				return err
			}
			answer, err = do(ctx, d)
			return err
		})
		if err == nil {
			g.after(ctx, d)
			return answer, nil
		}
		if !unlucky(err) {
			break
		}
	}
	return nil, undecided(err)
}

// begin runs a transaction on a connection of the pool, for which it waits no longer than for a lock.
func (g *Gate) begin(ctx context.Context, pool *pgxpool.Pool, do func(*postgres.Tx) error) error {
	waiting, cancel := context.WithTimeout(ctx, g.limits.Lock)
	conn, err := pool.Acquire(waiting)
	cancel()
	if err != nil {
		return err
	}
	defer conn.Release()
	return postgres.Transact(ctx, conn.Conn(), do)
}

// after does what a committed decision leaves to do. Storing an expiry can fail without harm: every read
// evaluates it, and the sweep stores it.
func (g *Gate) after(ctx context.Context, d *decision) {
	if d.done {
		g.tell(ctx)
	}
	if !d.late {
		return
	}
	if _, err := g.expire(ctx, d.facts.proposal.WorkspaceID, d.facts.proposal.ID); err != nil {
		g.log.WarnContext(ctx, "an expiry met by a decision was not stored", "proposal", d.facts.proposal.ID, "error", err)
		return
	}
	g.tell(failpoint.In(ctx, failpoint.Expire))
}

// tell wakes the feed after a commit. Nothing depends on it but how soon the event is told of.
func (g *Gate) tell(ctx context.Context) {
	if failpoint.Hit(ctx, failpoint.Telling) == nil {
		g.wake()
	}
}

// read locks the proposal and then reads what the decision goes by, in one round trip.
func (d *decision) read(ctx context.Context, by identity.Person, which id.Proposal, kind sqlc.DecisionKind) error {
	q, g := d.gate.queries, d.gate
	if err := failpoint.Hit(ctx, failpoint.Locking); err != nil {
		return err
	}
	err := q.BeginDecision(ctx, d.tx.Later(), sqlc.BeginDecisionParams{
		Workspace: by.Workspace().ID.UUID().String(), LockTimeout: milliseconds(g.limits.Lock), StatementTimeout: milliseconds(g.limits.Statement)})
	if err != nil {
		return err
	}
	if err := errors.Join(q.LockProposal(ctx, d.tx.Later(), which), q.LockPolicies(ctx, d.tx.Later(), by.Workspace().ID)); err != nil {
		return err
	}
	now, err := q.Facts(ctx, d.tx.Now(), sqlc.FactsParams{ProposalID: which, SignInID: by.SignIn(), UserID: by.User().ID, WorkspaceID: by.Workspace().ID})
	if errors.Is(err, pgx.ErrNoRows) {
		return notFound()
	} else if err != nil {
		return err
	}
	p := &now.StoredProposal
	d.written = now.Written
	d.facts = facts{proposal: p, person: by, signedIn: now.SignedIn && now.Enabled, role: sqlc.Role(now.Role),
		turnHolds: now.TurnHolds, kind: kind, now: now.Now}
	if d.policies, err = record.PoliciesOf(now.PolicyVersion, now.Policies); err != nil {
		return err
	}
	return d.readBefore(ctx)
}

// readBefore reads what was decided before, where something was, and the terms of whoever's right it is to
// write this.
func (d *decision) readBefore(ctx context.Context) error {
	f, role := &d.facts, d.facts.role
	if f.proposal.Status != sqlc.ProposalStatusPending {
		rows, err := d.gate.queries.DecisionsBefore(ctx, d.tx.Now(), f.proposal.ID)
		if err != nil {
			return err
		}
		for _, r := range rows {
			f.decisions = append(f.decisions, Taken{&r.ProposalDecision, r.Person, sqlc.Role(r.Role)})
		}
	}
	if confirmer := f.confirmer(); confirmer != nil && f.kind == sqlc.DecisionKindApprove {
		role = confirmer.Role
	}
	f.terms = d.gate.policy(f.proposal, role, d.policies, d.written...)
	return failpoint.Hit(ctx, failpoint.Locked)
}

// refusal answers every verdict but apply; each verb adds what apply means to it.
func (d *decision) refusal(ctx context.Context, v verdict) (*Answer, error) {
	switch v {
	case forbid:
		return nil, forbidden(d.whyNot())
	case replay:
		return d.answer(ctx, Stands, "")
	case outdated:
		return d.answer(ctx, CardOutdated, "The card you decided on is not the one there is. Look at it again.")
	case decided:
		return d.answer(ctx, AlreadyDecided, "Another decision came first.")
	case lapsed:
		d.late = true
		return d.answer(ctx, AlreadyDecided, d.facts.untimely())
	case cutShort:
		if err := d.withdrawCutShort(ctx); err != nil {
			return nil, err
		}
		return d.answer(ctx, AlreadyDecided, "The answer that proposed it was cut short, so it was withdrawn.")
	}
	return nil, &Error{Code: Internal, Message: "Something went wrong on our side.", Cause: fmt.Errorf("verdict %d is not a refusal", v)}
}

// whyNot says no more of a proposal than the person sees of it.
func (d *decision) whyNot() string {
	switch f := d.facts; {
	case !f.signedIn || !d.gate.sights[f.role].as(f.person).Sees(seen(f.proposal)):
		return "This proposal is not yours to see or decide."
	case f.early():
		return "Nobody has confirmed it yet, so there is nothing to approve."
	}
	return "You may see this proposal; deciding it is not yours."
}

// answer reads the proposal as everyone reads it, and commits.
func (d *decision) answer(ctx context.Context, v Verdict, message string) (*Answer, error) {
	p, err := d.gate.queries.GetProposal(ctx, d.tx.Last(), d.facts.proposal.ID)
	if err != nil {
		return nil, err
	}
	return &Answer{Verdict: v, Proposal: p, Message: message, Under: &d.policies}, nil
}

// undecided maps what broke a decision, once.
func undecided(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r
	}
	if errors.Is(err, postgres.ErrUnheard) {
		return unknown(err)
	}
	return unavailable(err)
}

// unlucky: serialization failure or deadlock, which another try may not meet.
func unlucky(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
