package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// showRevise is the card with its values to be edited.
func (c *Console) showRevise(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	f, one, err := c.revisable(r, who)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.Revise(f, one, views.Failure{}))
}

func (c *Console) revisable(r *http.Request, who identity.Person) (f views.Frame, one views.Card, err error) {
	which, err := id.ParseProposal(r.PathValue("id"))
	if err != nil {
		return f, one, err
	}
	p, err := c.visible(r.Context(), who, which)
	if err != nil {
		return f, one, err
	}
	if f, err = c.frame(r, who, fmt.Sprintf("Edit #%d", p.Number), views.ToInbox); err != nil {
		return f, one, err
	}
	cards, err := c.cards(r.Context(), who, f.Now, []*sqlc.Proposal{p})
	if err != nil {
		return f, one, err
	}
	return f, cards[0], nil
}

// revise proposes what was edited in place of the card. Where that is refused, the page says why, and holds what
// was written.
func (c *Console) revise(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	f, one, err := c.revisable(r, who)
	if err != nil {
		return err
	}
	edited := one.Editable()
	made, err := c.Gate.Revise(r.Context(), who, gate.Revision{Of: one.Proposal.ID, Seen: r.PostFormValue("fingerprint"), Values: editedValues(r, edited), Channel: sqlc.ChannelConsole})
	if refused := (*gate.Refusal)(nil); errors.As(err, &refused) {
		one.Edited = map[string]string{}
		for _, change := range edited {
			one.Edited[change.Field] = r.PostFormValue("to." + change.Field)
		}
		return render(w, r, http.StatusUnprocessableEntity, views.Revise(f, one, views.Failure{Title: "Not changed", Words: refused.Message}))
	} else if err != nil {
		return err
	}
	goTo(w, r, views.Path(made.ID)+"?notice="+string(views.Revised))
	return nil
}

// editedValues are those that were written otherwise than the card has them: what is not touched keeps its
// spelling and its type.
func editedValues(r *http.Request, fields []card.Change) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, one := range fields {
		to, null := asWritten(r.PostFormValue("to."+one.Field)), r.PostFormValue("null."+one.Field) != ""
		if null == one.To.Null && (null || to == asWritten(views.InputText(one.To))) {
			continue
		}
		values[one.Field] = jsonOf(to, null, one.Type)
	}
	return values
}

// asWritten has line breaks as one character, which browsers send as two.
func asWritten(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// jsonOf spells a text as a field of the type takes it; what is no JSON is refused there, by name.
func jsonOf(text string, null bool, t card.FieldType) json.RawMessage {
	if null {
		return json.RawMessage("null")
	}
	if (t == card.JSON || t == card.Boolean) && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := json.Marshal(text) // a string
	return raw
}

// revert proposes to undo what was applied.
func (c *Console) revert(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	which, err := id.ParseProposal(r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := readForm(w, r); err != nil {
		return err
	}
	result, err := c.Tools.Revert(r.Context(), who, toolcall.Origin{Channel: sqlc.ChannelConsole}, which, r.PostForm["take"])
	switch {
	case err != nil:
		return err
	case !result.OK:
		return &problem{status: http.StatusUnprocessableEntity, title: "Nothing to undo here", words: result.Message}
	}
	goTo(w, r, views.Path(result.Proposal.ID)+"?notice="+string(views.Reverting))
	return nil
}
