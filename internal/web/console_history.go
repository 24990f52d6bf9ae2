package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

const historyPage = 25

func (c *Console) history(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	filter, known := views.FilterNamed(r.URL.Query().Get("show"))
	if !known {
		return errNotHere
	}
	before, err := place(r, "before", newest)
	if err != nil {
		return err
	}
	f, err := c.frame(r, who, "History", views.ToHistory)
	if err != nil {
		return err
	}
	page := views.HistoryPage{Filter: filter.Name, Newest: before == newest}
	if err := c.addHistory(r.Context(), who, filter, before, &page); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.History(f, page))
}

func (c *Console) addHistory(ctx context.Context, who identity.Person, filter views.Filter, before int64, page *views.HistoryPage) error {
	sight := c.Gate.Sight(who)
	rows, err := c.queries.ProposalsNewest(ctx, c.db(who), sqlc.ProposalsNewestParams{
		WorkspaceID: who.Workspace().ID, Viewer: sight.Viewer, SeesAll: sight.All, ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared, ApprovesAs: sight.ApprovesAs,
		Before: before, Statuses: spelled(filter.Statuses), MaxRows: historyPage + 1,
	})
	if err != nil {
		return err
	}
	if len(rows) > historyPage {
		rows = rows[:historyPage]
		query := url.Values{"before": {strconv.FormatInt(rows[historyPage-1].Number, 10)}}
		if filter.Name != "" {
			query.Set("show", filter.Name)
		}
		page.Older = templ.SafeURL("/history?" + query.Encode())
	}
	page.Rows, err = c.rows(ctx, who, rows)
	return err
}

// rows reads who stands beside proposals in a list, in two statements.
func (c *Console) rows(ctx context.Context, who identity.Person, proposals []*sqlc.Proposal) ([]views.Row, error) {
	at := map[id.Proposal]*views.Card{}
	for _, p := range proposals {
		at[p.ID] = &views.Card{Proposal: p}
	}
	if len(proposals) == 0 {
		return nil, nil
	}
	if err := c.addBeside(ctx, who, at, idsOf(proposals)); err != nil {
		return nil, err
	}
	if _, err := c.addDecisions(ctx, who, at, idsOf(proposals)); err != nil {
		return nil, err
	}
	list := make([]views.Row, len(proposals))
	for i, p := range proposals {
		list[i] = views.Row{Proposal: p, Kind: c.kind(p.Entity), Acting: at[p.ID].Acting, Last: at[p.ID].Final()}
	}
	return list, nil
}

func spelled(statuses []sqlc.ProposalStatus) []string {
	list := make([]string, len(statuses))
	for i, s := range statuses {
		list[i] = string(s)
	}
	return list
}
