package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/a-h/templ"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

const (
	conversationsPage = 25
	messagesPage      = 40
)

// conversations is where one begins to write to the assistant, with what one wrote before.
func (c *Console) conversations(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	return c.showConversations(w, r, who, http.StatusOK, compose("", ""))
}

func (c *Console) showConversations(w http.ResponseWriter, r *http.Request, who identity.Person, status int, box views.Compose) error {
	before, err := placeID(r, id.ParseConversation)
	if err != nil {
		return err
	}
	f, err := c.frame(r, who, "Assistant", views.ToChat)
	if err != nil {
		return err
	}
	rows, err := c.queries.ConversationsNewest(r.Context(), c.db(who), sqlc.ConversationsNewestParams{
		WorkspaceID: who.Workspace().ID, UserID: who.User().ID, Before: before, MaxRows: conversationsPage + 1})
	if err != nil {
		return err
	}
	may, tools, err := c.may(r.Context(), who)
	if err != nil {
		return err
	}
	box.Examples = examples(tools)
	page := views.ConversationsPage{Conversations: rows, Newest: r.URL.Query().Get("before") == "", Compose: box, May: may}
	if len(rows) > conversationsPage {
		page.Conversations = rows[:conversationsPage]
		page.Older = templ.SafeURL("/conversations?before=" + rows[conversationsPage-1].ID.String())
	}
	return render(w, r, status, views.Conversations(f, page))
}

func (c *Console) conversation(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	return c.showConversation(w, r, who, http.StatusOK, compose("", ""))
}

func (c *Console) showConversation(w http.ResponseWriter, r *http.Request, who identity.Person, status int, box views.Compose) error {
	talk, err := c.own(r, who)
	if err != nil {
		return err
	}
	before, err := placeID(r, id.ParseMessage)
	if err != nil {
		return err
	}
	f, err := c.frame(r, who, talk.Title, views.ToChat)
	if err != nil {
		return err
	}
	rows, err := c.queries.MessagesBackward(r.Context(), c.db(who), sqlc.MessagesBackwardParams{
		ConversationID: talk.ID, Before: before, MaxRows: messagesPage + 1})
	if err != nil {
		return err
	}
	may, tools, err := c.may(r.Context(), who)
	if err != nil {
		return err
	}
	box.Examples = examples(tools)
	page := views.ConversationPage{Conversation: talk, Newest: r.URL.Query().Get("before") == "", Compose: box, May: may}
	if len(rows) > messagesPage {
		rows = rows[:messagesPage]
		page.Earlier = templ.SafeURL(views.ConversationPath(talk.ID) + "?before=" + rows[messagesPage-1].ID.String())
	}
	slices.Reverse(rows)
	if page.Messages, err = c.messages(r.Context(), who, f, talk, rows); err != nil {
		return err
	}
	return render(w, r, status, views.Conversation(f, page))
}

// own reads a conversation of the person's; another workspace's is not here, a colleague's not theirs.
func (c *Console) own(r *http.Request, who identity.Person) (*sqlc.Conversation, error) {
	which, err := id.ParseConversation(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	found, err := c.queries.ConversationsByID(r.Context(), c.db(who), id.UUIDs([]id.Conversation{which}))
	if err != nil {
		return nil, err
	}
	switch {
	case len(found) == 0:
		return nil, errNotHere
	case found[0].UserID != who.User().ID:
		return nil, assistant.ErrNotYours
	}
	return found[0], nil
}

// messages puts the cards of each turn under the last thing said in it.
func (c *Console) messages(ctx context.Context, who identity.Person, f views.Frame, talk *sqlc.Conversation, rows []*sqlc.Message) ([]views.Message, error) {
	list := make([]views.Message, len(rows))
	last := map[id.Turn]*views.Message{}
	turns := make([]id.Turn, len(rows))
	for i, m := range rows {
		list[i] = views.Message{Message: m, Citations: citationsOf(m)}
		last[m.TurnID], turns[i] = &list[i], m.TurnID
	}
	cards, under, err := c.cardsOfTurns(ctx, who, f, turns)
	if err != nil {
		return nil, err
	}
	for _, one := range cards {
		one.Back = views.ConversationPath(talk.ID)
		message := last[under[one.Proposal.ID]]
		message.Cards = append(message.Cards, one)
	}
	return list, nil
}

// last is an id after all others: a list before it begins with the newest.
func last[T any, P interface {
	*T
	ScanUUID(pgtype.UUID) error
}]() T {
	var none T
	_ = P(&none).ScanUUID(pgtype.UUID{Valid: true, Bytes: [16]byte(slices.Repeat([]byte{0xff}, 16))})
	return none
}

// placeID is where a list of things with ids goes on from; the newest where nothing is asked.
func placeID[T any, P interface {
	*T
	ScanUUID(pgtype.UUID) error
}](r *http.Request, parse func(string) (T, error)) (T, error) {
	if asked := r.URL.Query().Get("before"); asked != "" {
		return parse(asked)
	}
	return last[T, P](), nil
}
