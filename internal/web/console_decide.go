package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

func (c *Console) confirm(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	return c.decide(w, r, views.Confirmed, func(ctx context.Context, which id.Proposal) (*gate.Answer, error) {
		return c.Gate.Confirm(ctx, who, which, r.PostFormValue("fingerprint"))
	})
}

func (c *Console) reject(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	return c.decide(w, r, views.Rejected, func(ctx context.Context, which id.Proposal) (*gate.Answer, error) {
		return c.Gate.Reject(ctx, who, which, written(r, "reason"))
	})
}

func (c *Console) approve(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	return c.decide(w, r, views.Approved, func(ctx context.Context, which id.Proposal) (*gate.Answer, error) {
		return c.Gate.Approve(ctx, who, which, r.PostFormValue("fingerprint"))
	})
}

func (c *Console) disapprove(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	return c.decide(w, r, views.Disapproved, func(ctx context.Context, which id.Proposal) (*gate.Answer, error) {
		return c.Gate.Disapprove(ctx, who, which, written(r, "reason"))
	})
}

func (c *Console) withdraw(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	return c.decide(w, r, views.Withdrew, func(ctx context.Context, which id.Proposal) (*gate.Answer, error) {
		return c.Gate.Withdraw(ctx, who, which)
	})
}

func (c *Console) extend(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	return c.decide(w, r, views.Extended, func(ctx context.Context, which id.Proposal) (*gate.Answer, error) {
		return c.Gate.Extend(ctx, who, which)
	})
}

// decide has the gate do one thing and leads to the card as it is then, whatever came of it: who was too
// late sees the outcome, and not an error.
func (c *Console) decide(w http.ResponseWriter, r *http.Request, done views.Notice, do func(context.Context, id.Proposal) (*gate.Answer, error)) error {
	which, err := id.ParseProposal(r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := readForm(w, r); err != nil {
		return err
	}
	answer, err := do(r.Context(), which)
	if err != nil {
		return err
	}
	goTo(w, r, backTo(r, which, noticeOf(answer, done)))
	return nil
}

func noticeOf(a *gate.Answer, done views.Notice) views.Notice {
	switch {
	case a.Verdict == gate.CardOutdated:
		return views.Outdated
	case a.Verdict == gate.Stands:
		return done
	case a.Proposal.Status == sqlc.ProposalStatusExpired:
		return views.Lapsed
	}
	return views.Decided
}

// backTo is the page a decision was taken on: the card's own, or the conversation that shows it.
func backTo(r *http.Request, which id.Proposal, n views.Notice) string {
	page, anchor := views.Path(which), ""
	if back := localPath(r.PostFormValue("back")); strings.HasPrefix(back, "/conversations/") && !strings.ContainsAny(back, "?#") {
		page, anchor = back, "#card-"+which.String()
	}
	return page + "?notice=" + string(n) + anchor
}
