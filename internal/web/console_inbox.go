package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// queuePage is how many rows the queue has.
const queuePage = 25

func (c *Console) inbox(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	after, err := place(r, "after", 0)
	if err != nil {
		return err
	}
	f, err := c.frame(r, who, "Inbox", views.ToInbox)
	if err != nil {
		return err
	}
	queue, rows, err := c.queue(r.Context(), who, after)
	if err != nil {
		return err
	}
	page := views.InboxPage{Queue: queue}
	if len(rows) > 0 {
		first, err := c.card(r.Context(), who, f.Now, rows[0])
		if err != nil {
			return err
		}
		page.Card = &first
	}
	return render(w, r, http.StatusOK, views.Inbox(f, page))
}

// queue reads what waits for someone, after a place in it.
func (c *Console) queue(ctx context.Context, who identity.Person, after int64) (views.Queue, []*sqlc.Proposal, error) {
	sight := c.Gate.Sight(who)
	q := views.Queue{First: after == 0, Decides: sight.Decides}
	if !q.Decides {
		return q, nil, nil
	}
	rows, err := c.queries.ActionableBackward(ctx, c.db(who), sqlc.ActionableBackwardParams{WorkspaceID: who.Workspace().ID, Viewer: sight.Viewer,
		ConfirmsIn: sight.ConfirmsIn, Confirms: sight.Confirms, ApprovesAs: sight.ApprovesAs, Before: after, MaxRows: queuePage + 1})
	if err != nil {
		return q, nil, err
	}
	if len(rows) > queuePage {
		rows = rows[:queuePage]
		q.Next = templ.SafeURL(fmt.Sprintf("/inbox?after=%d", rows[queuePage-1].Number))
	}
	for _, p := range rows {
		q.Rows = append(q.Rows, views.Row{Proposal: p, Kind: c.kind(p.Entity)})
	}
	return q, rows, nil
}

func (c *Console) proposal(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	which, err := id.ParseProposal(r.PathValue("id"))
	if err != nil {
		return err
	}
	f, err := c.frame(r, who, "", views.ToInbox)
	if err != nil {
		return err
	}
	p, err := c.visible(r.Context(), who, which)
	if err != nil {
		return err
	}
	f.Title = fmt.Sprintf("#%d", p.Number)
	queue, _, err := c.queue(r.Context(), who, 0)
	if err != nil {
		return err
	}
	one, err := c.card(r.Context(), who, f.Now, p)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.Proposal(f, views.ProposalPage{Queue: queue, Card: one}))
}

// visible reads a proposal: not here in another workspace, not theirs where it is here and not theirs to see.
func (c *Console) visible(ctx context.Context, who identity.Person, which id.Proposal) (*sqlc.Proposal, error) {
	sight := c.Gate.Sight(who)
	p, err := c.queries.VisibleProposal(ctx, c.db(who), sqlc.VisibleProposalParams{ID: which, Viewer: sight.Viewer, SeesAll: sight.All,
		ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared})
	if !errors.Is(err, pgx.ErrNoRows) {
		return p, err
	}
	switch _, err := c.queries.GetProposal(ctx, c.db(who), which); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, errNotHere
	case err != nil:
		return nil, err
	}
	return nil, errNotYours
}
