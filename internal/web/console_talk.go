package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// begin opens a conversation with its first message.
func (c *Console) begin(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	content := written(r, "content")
	if wrong := unsendable(content); wrong != "" {
		return c.showConversations(w, r, who, http.StatusBadRequest, compose(content, wrong))
	}
	talk, err := c.Assistant.Open(r.Context(), who, "")
	if err != nil {
		return err
	}
	return c.answer(w, r, who, talk.ID, content)
}

// send adds a message to a conversation. Sent twice with its key it is one message.
func (c *Console) send(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	which, err := id.ParseConversation(r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := readForm(w, r); err != nil {
		return err
	}
	content := written(r, "content")
	if wrong := unsendable(content); wrong != "" {
		return c.showConversation(w, r, who, http.StatusBadRequest, compose(content, wrong))
	}
	return c.answer(w, r, who, which, content)
}

// answer leads to what was said. Why there is no answer, where there is none, stands there as a message.
func (c *Console) answer(w http.ResponseWriter, r *http.Request, who identity.Person, which id.Conversation, content string) error {
	reply, err := c.Assistant.Send(r.Context(), who, which, content, r.PostFormValue("key"))
	if err != nil {
		return err
	}
	path := views.ConversationPath(which)
	if reply.UserMessage != nil {
		path += "#" + reply.UserMessage.ID.String()
	}
	goTo(w, r, path)
	return nil
}

// unsendable says what is wrong with a message before anything is made of it.
func unsendable(content string) string {
	switch n := len([]rune(content)); {
	case n == 0:
		return "Write something first."
	case n > assistant.MaxContent:
		return "That is too long for one message: at most 4,000 characters."
	}
	return ""
}

func compose(content, wrong string) views.Compose {
	return views.Compose{Key: id.NewTurn().String(), Content: content, Wrong: wrong, Limit: assistant.MaxContent}
}

// cardsOfTurns are the cards of what some turns proposed, each once: a later turn that wanted the same as an
// earlier one has the card of it. under says whose card each is.
func (c *Console) cardsOfTurns(ctx context.Context, who identity.Person, f views.Frame, turns []id.Turn) (cards []views.Card, under map[id.Proposal]id.Turn, err error) {
	if len(turns) == 0 {
		return nil, nil, nil
	}
	sight := c.Gate.Sight(who)
	rows, err := c.queries.VisibleProposalsOfTurns(ctx, c.db(who), sqlc.VisibleProposalsOfTurnsParams{
		Turns: id.UUIDs(turns), Viewer: sight.Viewer, SeesAll: sight.All, ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared})
	if err != nil {
		return nil, nil, err
	}
	under = map[id.Proposal]id.Turn{}
	var proposals []*sqlc.Proposal
	for _, row := range rows {
		before, again := under[row.Proposal.ID]
		if !again {
			proposals = append(proposals, &row.Proposal)
		}
		if !again || slices.Index(turns, row.TurnID) > slices.Index(turns, before) {
			under[row.Proposal.ID] = row.TurnID
		}
	}
	cards, err = c.cards(ctx, who, f.Now, proposals)
	return cards, under, err
}

// citationsOf are stored by the assistant; what cannot be read is left out of the page, not the page with it.
func citationsOf(m *sqlc.Message) []views.Citation {
	var list []views.Citation
	if err := json.Unmarshal(m.Citations, &list); err != nil {
		return nil
	}
	return list
}
