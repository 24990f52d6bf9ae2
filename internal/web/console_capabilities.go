package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/views"
)

func (c *Console) assistant(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	f, err := c.frame(r, who, "What the assistant may do", views.ToChat)
	if err != nil {
		return err
	}
	may, _, err := c.may(r.Context(), who)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.Assistant(f, may))
}

// may is the list the assistant is told, and `capabilities` shows, with its tools.
func (c *Console) may(ctx context.Context, who identity.Person) (views.Capabilities, []toolcall.Tool, error) {
	list := views.Capabilities{Enabled: c.Tools.Enabled(), Provider: c.Tools.Provider()}
	offered, err := c.Tools.Offered(ctx, who)
	for _, t := range offered {
		list.Offers = append(list.Offers, views.Offer{
			Entities: t.Entity.Plural, Operation: t.Operation, Does: strings.TrimPrefix(t.Label, "Propose to "), Write: t.Write, Approval: t.RequiresApproval,
		})
	}
	return list, offered, err
}

// examples are messages that fit what is offered, none of which proposes anything.
func examples(tools []toolcall.Tool) []string {
	list := []string{"What can you do?"}
	for _, t := range tools {
		if t.Operation != "list" || len(list) == 4 {
			continue
		}
		list = append(list, question(t.Entity))
	}
	return list
}

func question(e toolcall.EntityInfo) string {
	plural := strings.ToLower(e.Plural)
	chosen := slices.IndexFunc(e.Fields, func(f toolcall.FieldInfo) bool { return len(f.Values) > 1 && !f.Masked })
	if chosen < 0 {
		return "List " + plural
	}
	f := e.Fields[chosen]
	return fmt.Sprintf("Which %s have %s %s?", plural, strings.ToLower(f.Label), f.Values[min(1, len(f.Values)-1)])
}
