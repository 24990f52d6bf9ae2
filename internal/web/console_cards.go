package web

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// cards reads what is on and beside some proposals' cards: four statements at most, however many cards.
func (c *Console) cards(ctx context.Context, who identity.Person, now time.Time, proposals []*sqlc.Proposal) ([]views.Card, error) {
	list := make([]views.Card, len(proposals))
	at := map[id.Proposal]*views.Card{}
	for i, p := range proposals {
		list[i] = views.Card{Proposal: p, Kind: c.kind(p.Entity), Viewer: who.User().ID, Now: now}
		if err := c.addBulk(&list[i]); err != nil {
			return nil, err
		}
		var err error
		if list[i].Conflicts, err = card.Conflicts(p.Conflicts); err != nil {
			return nil, err
		}
		if list[i].Rehearsal, err = card.RehearsalOf(p.Rehearsal); err != nil {
			return nil, err
		}
		if list[i].Planned, err = card.Notices(p.Warnings); err != nil {
			return nil, err
		}
		at[p.ID] = &list[i]
	}
	if len(proposals) == 0 {
		return list, nil
	}
	if err := c.addRecords(ctx, who, at, idsOf(proposals), 0, firstRecords); err != nil {
		return nil, err
	}
	if err := c.addBeside(ctx, who, at, idsOf(proposals)); err != nil {
		return nil, err
	}
	policies, err := gate.PoliciesOf(c.queries.PoliciesNow(ctx, c.db(who), who.Workspace().ID))
	if err != nil {
		return nil, err
	}
	taken, err := c.addDecisions(ctx, who, at, idsOf(slices.DeleteFunc(slices.Clone(proposals), undecided)))
	for i, p := range proposals {
		list[i].Actions = actionsOf(c.Gate.Actions(p, who, taken[p.ID], policies))
	}
	return list, err
}

// card is a single one. Its records are looked at again: what changed since it was made is said beside it.
func (c *Console) card(ctx context.Context, who identity.Person, now time.Time, p *sqlc.Proposal) (views.Card, error) {
	cards, err := c.cards(ctx, who, now, []*sqlc.Proposal{p})
	if err != nil {
		return views.Card{}, err
	}
	cards[0].Since = c.Gate.ChangedSince(ctx, who, p)
	return cards[0], nil
}

// undecided: nobody can have decided anything yet.
func undecided(p *sqlc.Proposal) bool { return p.Status == sqlc.ProposalStatusPending }

func idsOf(proposals []*sqlc.Proposal) []uuid.UUID {
	ids := make([]uuid.UUID, len(proposals))
	for i, p := range proposals {
		ids[i] = p.ID.UUID()
	}
	return ids
}

// firstRecords is how many records of a proposal its card holds; the rest is a page away.
const firstRecords = 20

// addRecords reads the records of each proposal after a position, up to another.
func (c *Console) addRecords(ctx context.Context, who identity.Person, at map[id.Proposal]*views.Card, ids []uuid.UUID, after, upTo int32) error {
	rows, err := c.queries.RecordsOfProposals(ctx, c.db(who), sqlc.RecordsOfProposalsParams{Proposals: ids, After: after, UpTo: upTo})
	if err != nil {
		return err
	}
	for len(rows) > 0 {
		which := rows[0].ProposalID
		n := slices.IndexFunc(rows, func(r *sqlc.ProposalRecord) bool { return r.ProposalID != which })
		if n < 0 {
			n = len(rows)
		}
		if at[which].Records, err = card.Records(rows[:n]); err != nil {
			return err
		}
		at[which].Kinds = c.kinds(at[which].Records)
		rows = rows[n:]
	}
	return nil
}

func (c *Console) addBeside(ctx context.Context, who identity.Person, at map[id.Proposal]*views.Card, ids []uuid.UUID) error {
	sight := c.Gate.Sight(who)
	rows, err := c.queries.BesideCards(ctx, c.db(who), sqlc.BesideCardsParams{Proposals: ids,
		Viewer: who.User().ID, SeesAll: sight.All, ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared})
	if err != nil {
		return err
	}
	for _, row := range rows {
		one := at[row.ID]
		one.Acting, one.Conversation, one.Others = row.Acting, row.Conversation, row.Others
	}
	return nil
}

// addDecisions gives them too, as the gate goes by them.
func (c *Console) addDecisions(ctx context.Context, who identity.Person, at map[id.Proposal]*views.Card, ids []uuid.UUID) (map[id.Proposal][]gate.Taken, error) {
	taken := map[id.Proposal][]gate.Taken{}
	if len(ids) == 0 {
		return taken, nil
	}
	rows, err := c.queries.DecisionsOfProposals(ctx, c.db(who), ids)
	if err != nil {
		return nil, err
	}
	for _, d := range gate.TakenOf(rows) {
		taken[d.ProposalID] = append(taken[d.ProposalID], d)
		one := at[d.ProposalID]
		one.Decisions = append(one.Decisions, views.Decision{ProposalDecision: d.ProposalDecision, Person: d.Name})
	}
	return taken, nil
}

func actionsOf(may []gate.Action) views.Actions {
	return views.Actions{
		Confirm:  slices.Contains(may, gate.ActionConfirm),
		Reject:   slices.Contains(may, gate.ActionReject),
		Withdraw: slices.Contains(may, gate.ActionWithdraw),
		Extend:   slices.Contains(may, gate.ActionExtend),

		Approve:    slices.Contains(may, gate.ActionApprove),
		Disapprove: slices.Contains(may, gate.ActionDisapprove),
		Revise:     slices.Contains(may, gate.ActionRevise),
		Revert:     slices.Contains(may, gate.ActionRevert),
	}
}
