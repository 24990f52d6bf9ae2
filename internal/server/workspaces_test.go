package server_test

import (
	"strings"
	"testing"
)

// theirs is what another workspace has: ids of each kind, and cursors of each list.
type theirs struct {
	who                                                           *client
	proposal, fingerprint, conversation, message, user, workspace string
	proposals, soonest, conversations, messages, ofConversation   string
}

func (w *world) otherSite() theirs {
	w.t.Helper()
	olu := w.signIn("olu@othersite.example")
	talk := olu.gql(`mutation { createConversation(input: {}) { conversation { id } } }`, nil).text("createConversation.conversation.id")
	for _, said := range []string{"Rename role 10 to buyer", "Rename role 11 to guest"} {
		olu.gql(ask, vars{"c": talk, "m": said}).want(vars{"sendMessage.message.writes.0.status": "PENDING"})
	}
	a := olu.gql(`query($c: ID!) { viewer { user { id } workspace { id } }
		conversation(id: $c) { messages(first: 1) { edges { node { id } } pageInfo { endCursor } } proposals(first: 1) { pageInfo { endCursor } } }
		conversations(first: 1) { pageInfo { endCursor } } soonest: proposals(first: 1, orderBy: EXPIRES_SOONEST) { pageInfo { endCursor } }
		proposals(first: 1) { edges { node { id fingerprint } } pageInfo { endCursor } } }`, vars{"c": talk})
	return theirs{
		who: olu, conversation: talk, proposal: a.text("proposals.edges.0.node.id"), fingerprint: a.text("proposals.edges.0.node.fingerprint"),
		message: a.text("conversation.messages.edges.0.node.id"), user: a.text("viewer.user.id"), workspace: a.text("viewer.workspace.id"),
		proposals: a.text("proposals.pageInfo.endCursor"), soonest: a.text("soonest.pageInfo.endCursor"), conversations: a.text("conversations.pageInfo.endCursor"),
		messages: a.text("conversation.messages.pageInfo.endCursor"), ofConversation: a.text("conversation.proposals.pageInfo.endCursor"),
	}
}

// everybody of Harbor Mill: each role, and tokens.
func (w *world) everybody() map[string]*client {
	all := map[string]*client{"a token": w.as(w.db.APIToken(w.t, "maria@harbor.example", "read", "propose")), "the auditor's token": w.as(w.db.APIToken(w.t, "sam@harbor.example", "read"))}
	for _, name := range []string{"maria", "jonas", "rosa", "sam"} {
		all[name] = w.signIn(name + "@harbor.example")
	}
	return all
}

func TestAnotherWorkspaceIsNotFound(t *testing.T) {
	t.Parallel()
	w := start(t)
	their := w.otherSite()
	nodes := map[string]string{"proposal": their.proposal, "conversation": their.conversation, "message": their.message, "user": their.user, "workspace": their.workspace}
	for who, c := range w.everybody() {
		for kind, id := range nodes {
			if a := c.gql(`query($id: ID!) { node(id: $id) { __typename id } }`, vars{"id": id}); a.Data["node"] != nil || len(a.Errors) != 1 || a.Errors[0].Extensions["code"] != "NOT_FOUND" {
				t.Errorf("%s, node of a %s: %s", who, kind, a.raw)
			}
		}
		c.gql(show, vars{"id": their.proposal}).refused("NOT_FOUND")
		c.gql(`query($id: ID!) { conversation(id: $id) { title messages { edges { node { content } } } proposals { edges { node { id } } } } }`, vars{"id": their.conversation}).refused("NOT_FOUND")
		c.gql(`query($u: ID!, $c: ID!) { mine: proposals { edges { node { id } } } by: proposals(filter: {actingUserId: $u}) { edges { node { id } } }
			in: proposals(filter: {conversationId: $c}) { edges { node { id } } } soonest: proposals(orderBy: EXPIRES_SOONEST) { edges { node { id } } }
			last: proposals(last: 100) { edges { node { id } } } conversations { edges { node { id } } } actionableCount }`, vars{"u": their.user, "c": their.conversation}).want(vars{
			"mine.edges": []any{}, "by.edges": []any{}, "in.edges": []any{}, "soonest.edges": []any{}, "last.edges": []any{}, "conversations.edges": []any{}, "actionableCount": 0})
	}
	maria := w.signIn("maria@harbor.example")
	maria.confirm(their.proposal, their.fingerprint).refused("NOT_FOUND")
	for _, mutation := range []string{reject, withdraw, extend} {
		maria.gql(mutation, vars{"in": vars{"id": their.proposal}}).refused("NOT_FOUND")
	}
	maria.gql(ask, vars{"c": their.conversation, "m": "Which orders are released?"}).refused("NOT_FOUND")
	maria.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "x"}, "conversationId": their.conversation}}).refused("NOT_FOUND")
	w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose")).gql(withdraw, vars{"in": vars{"id": their.proposal}}).refused("NOT_FOUND")
	if got := w.sql(`SELECT (SELECT count(*) FROM countersign.proposal_decisions) || ' ' || (SELECT count(*) FROM countersign.messages) || ' ' || (SELECT count(*) FROM countersign.proposals)`); got != "0 4 2" {
		t.Errorf("left: %s", got)
	}
	w.invariants()
}

// What each console page says of another workspace's ids is what it says of none.
func TestTheConsoleKnowsNoOtherWorkspace(t *testing.T) {
	t.Parallel()
	w := start(t)
	their := w.otherSite()
	for who, c := range w.everybody() {
		for path, like := range map[string]string{"/proposals/" + their.proposal: "/proposals/prop_01m8p8bnfyezfa3ncn5myxr8vc", "/conversations/" + their.conversation: "/conversations/conv_01m8p8bnfyezfa3ncn5myxr8vc"} {
			status, body := c.get(path)
			none, same := c.get(like)
			if status != none || status < 400 || body != same || strings.Contains(body, "buyer") {
				t.Errorf("%s, %s: %d, of no such id %d\n%s", who, path, status, none, body)
			}
		}
	}
}

func TestACursorIsOfItsListInItsWorkspace(t *testing.T) {
	t.Parallel()
	w := start(t)
	their := w.otherSite()
	maria := w.signIn("maria@harbor.example")
	maria.say("Rename role 4 to reviewer").want(nil)
	mine := maria.gql(`{ conversations(first: 1) { edges { node { id } } pageInfo { endCursor } } proposals(first: 1) { pageInfo { endCursor } } }`, nil)
	talk := mine.text("conversations.edges.0.node.id")
	cursors := map[string]string{
		"their proposals": their.proposals, "their soonest": their.soonest, "their conversations": their.conversations, "their messages": their.messages, "their conversation's proposals": their.ofConversation,
		"proposals": mine.text("proposals.pageInfo.endCursor"), "conversations": mine.text("conversations.pageInfo.endCursor"),
		"nothing": "", "no base64": "???", "no JSON": "bm90aGluZw", "an id": their.proposal, "a number": "MQ", "null": "bnVsbA", "an object": "e30", "a long text": strings.Repeat("A", 100000),
	}
	for list, query := range map[string]string{
		"proposals":     `query($at: String, $c: ID!) { proposals(first: 1, after: $at) { edges { cursor } } conversation(id: $c) { id } }`,
		"backward":      `query($at: String, $c: ID!) { proposals(last: 1, before: $at) { edges { cursor } } conversation(id: $c) { id } }`,
		"soonest":       `query($at: String, $c: ID!) { proposals(first: 1, orderBy: EXPIRES_SOONEST, after: $at) { edges { cursor } } conversation(id: $c) { id } }`,
		"conversations": `query($at: String, $c: ID!) { conversations(first: 1, after: $at) { edges { cursor } } conversation(id: $c) { id } }`,
		"messages":      `query($at: String, $c: ID!) { conversation(id: $c) { messages(first: 1, after: $at) { edges { cursor } } } }`,
		"in one":        `query($at: String, $c: ID!) { conversation(id: $c) { proposals(first: 1, after: $at) { edges { cursor } } } }`,
		"records":       `query($at: String, $c: ID!) { conversation(id: $c) { id } proposals { edges { node { summary { records(after: $at) { edges { cursor } } } } } } }`,
	} {
		for of, cursor := range cursors {
			a := maria.gql(query, vars{"at": cursor, "c": talk})
			if of == list || of == "proposals" && list == "backward" {
				a.want(nil)
			} else if a.refused("INVALID_INPUT"); len(a.raw) > 1000 {
				t.Errorf("%s after %s: %d bytes", list, of, len(a.raw))
			}
		}
	}
}
