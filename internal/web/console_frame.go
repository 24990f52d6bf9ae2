package web

import (
	"context"
	"net/http"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// frame reads what stands around a page. It comes before whatever else the page reads, so that a page that follows
// the feed from the frame's cursor on misses nothing.
func (c *Console) frame(r *http.Request, who identity.Person, title string, section views.Section) (views.Frame, error) {
	f := frameOf(who, title, section)
	f.Notice = views.Notice(r.URL.Query().Get("notice"))
	return f, c.orient(r.Context(), who, &f)
}

func (c *Console) orient(ctx context.Context, who identity.Person, f *views.Frame) error {
	sight := c.Gate.Sight(who)
	row, err := c.queries.Bearings(ctx, c.db(who), sqlc.BearingsParams{WorkspaceID: who.Workspace().ID, Viewer: sight.Viewer,
		ConfirmsIn: sight.ConfirmsIn, Confirms: sight.Confirms, ApprovesAs: sight.ApprovesAs})
	if err != nil {
		return err
	}
	f.Now, f.Cursor = row.Now, feed.Position(row.Head).Cursor()
	if sight.Decides {
		f.Waiting = int(row.Waiting)
	}
	for i, slug := range row.Slugs {
		f.Workspaces = append(f.Workspaces, views.Workspace{Slug: slug, Name: row.Names[i]})
	}
	return nil
}

// bareFrame is what is known without asking the database, for pages that say what went wrong.
func (c *Console) bareFrame(r *http.Request, title string) views.Frame {
	if who, ok := identity.From(r.Context()).(identity.Person); ok && who.Live() {
		return frameOf(who, title, views.NoSection)
	}
	return views.Frame{Title: title}
}

func frameOf(who identity.Person, title string, section views.Section) views.Frame {
	return views.Frame{
		Title: title, Section: section, Person: who.User().Name, Email: who.User().Email, Role: who.Role(),
		Workspace: views.Workspace{Slug: who.Workspace().Slug, Name: who.Workspace().Name},
	}
}
