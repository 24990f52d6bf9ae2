package gate

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// Withdraw lets the acting user take back what is still open. Repeating it answers the same.
func (g *Gate) Withdraw(ctx context.Context, by identity.Person, which id.Proposal) (*Answer, error) {
	return g.end(failpoint.In(ctx, failpoint.Withdraw), by, which, sqlc.DecisionKindWithdraw, sqlc.ProposalStatusWithdrawn, "")
}

// WithdrawAsAgent lets a token take back what it proposed itself. It runs under the agent's login,
// through the function that login may execute.
func (g *Gate) WithdrawAsAgent(ctx context.Context, by identity.Agent, which id.Proposal) (*Answer, error) {
	ctx = failpoint.In(ctx, failpoint.TakeBack)
	var answer *Answer
	err := g.begin(ctx, g.pools.Agent, func(tx *postgres.Tx) error {
		if err := failpoint.Hit(ctx, failpoint.Locking); err != nil {
			return err
		}
		if err := postgres.Enter(ctx, tx.Later(), by.Workspace().ID); err != nil {
			return err
		}
		db := tx.Now()
		p, err := g.withdrawable(ctx, db, by, which)
		if err != nil {
			return err
		}
		token := by.Token().UUID()
		status, err := g.queries.WithdrawAsAgent(ctx, db, sqlc.WithdrawAsAgentParams{ID: which.UUID(), TokenID: &token})
		if err != nil {
			return err
		}
		if err := failpoint.Hit(ctx, failpoint.Moved); err != nil {
			return err
		}
		answer, err = g.withdrawn(ctx, db, p, status)
		return err
	})
	if err != nil {
		return nil, undecided(err)
	}
	g.tell(ctx)
	return answer, nil
}

func (g *Gate) withdrawable(ctx context.Context, db sqlc.DBTX, by identity.Agent, which id.Proposal) (*sqlc.Proposal, error) {
	p, err := g.queries.GetProposal(ctx, db, which)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, notFound()
	} else if err != nil {
		return nil, err
	}
	if p.TokenID != by.Token() || !by.May(identity.ScopePropose) {
		return nil, forbidden("A token withdraws what it proposed itself, and nothing else.")
	}
	return p, nil
}

func (g *Gate) withdrawn(ctx context.Context, db sqlc.DBTX, before *sqlc.Proposal, status string) (*Answer, error) {
	now, err := g.queries.GetProposal(ctx, db, before.ID)
	if err != nil {
		return nil, err
	}
	if status == "" {
		return nil, forbidden("This proposal is not this token's to withdraw.")
	}
	if now.Status == sqlc.ProposalStatusWithdrawn && (before.Status != now.Status || g.byToken(ctx, db, now)) {
		return &Answer{Verdict: Stands, Proposal: now}, nil
	}
	return &Answer{Verdict: AlreadyDecided, Proposal: now, Message: "Another decision came first."}, nil
}

func (g *Gate) byToken(ctx context.Context, db sqlc.DBTX, p *sqlc.Proposal) bool {
	list, err := g.queries.DecisionsOfProposals(ctx, db, id.UUIDs([]id.Proposal{p.ID}))
	return err == nil && len(list) > 0 && list[len(list)-1].ProposalDecision.TokenID == p.TokenID
}

// WithdrawCutShort takes back, for the system, what a turn proposed that was cut short or failed. It
// does nothing to what is no longer open.
func (g *Gate) WithdrawCutShort(ctx context.Context, workspace id.Workspace, which id.Proposal, reason string) error {
	ctx = failpoint.In(ctx, failpoint.CutShort)
	if err := failpoint.Hit(ctx, failpoint.Locking); err != nil {
		return err
	}
	_, err := g.queries.WithdrawAsAgent(ctx, postgres.As(g.pools.Agent, workspace), sqlc.WithdrawAsAgentParams{ID: which.UUID(), Reason: &reason})
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.Committed)
	}
	if err == nil {
		g.tell(ctx)
	}
	return err
}
