package server_test

import "testing"

func (c *client) talk(said ...string) (talk string) {
	c.w.t.Helper()
	talk = c.gql(`mutation { createConversation(input: {}) { conversation { id } } }`, nil).text("createConversation.conversation.id")
	for _, one := range said {
		c.gql(ask, vars{"c": talk, "m": one}).want(vars{"sendMessage.failure": nil})
	}
	return talk
}

// Lists inside a list are read together, and each holds its own.
func TestEachConversationHoldsItsOwn(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	first, second := maria.talk("Rename role 4 to reviewer", "Rename role 5 to onlooker"), maria.talk("Rename role 6 to purchaser", "What can you do?")
	a := maria.gql(`{ conversations { edges { node { id first: messages(first: 1) { edges { node { content } } pageInfo { hasNextPage endCursor } } last: messages(last: 2) { edges { node { role content } } pageInfo { hasPreviousPage } }
		proposals(first: 1) { edges { node { headline } } pageInfo { hasNextPage } } } } } }`, nil)
	a.want(vars{
		"conversations.edges.0.node.id": second, "conversations.edges.1.node.id": first,
		"conversations.edges.0.node.first.edges": []any{vars{"node": vars{"content": "Rename role 6 to purchaser"}}}, "conversations.edges.1.node.first.edges": []any{vars{"node": vars{"content": "Rename role 4 to reviewer"}}},
		"conversations.edges.0.node.first.pageInfo.hasNextPage": true, "conversations.edges.0.node.last.pageInfo.hasPreviousPage": true,
		"conversations.edges.0.node.last.edges.0.node": vars{"role": "USER", "content": "What can you do?"}, "conversations.edges.1.node.last.edges.0.node": vars{"role": "USER", "content": "Rename role 5 to onlooker"},
		"conversations.edges.1.node.last.edges.1.node.role": "ASSISTANT",
		"conversations.edges.0.node.proposals.edges":        []any{vars{"node": vars{"headline": `Rename role "buyer" to "purchaser"`}}},
		"conversations.edges.0.node.proposals.pageInfo":     vars{"hasNextPage": false},
		"conversations.edges.1.node.proposals.edges":        []any{vars{"node": vars{"headline": `Rename role "viewer" to "onlooker"`}}},
		"conversations.edges.1.node.proposals.pageInfo":     vars{"hasNextPage": true},
	})
	next := maria.gql(`query($c: ID!, $at: String) { conversation(id: $c) { messages(first: 100, after: $at) { edges { node { role } } pageInfo { hasNextPage hasPreviousPage } } } }`,
		vars{"c": first, "at": a.text("conversations.edges.1.node.first.pageInfo.endCursor")})
	next.want(vars{"conversation.messages.edges": []any{vars{"node": vars{"role": "ASSISTANT"}}, vars{"node": vars{"role": "USER"}}, vars{"node": vars{"role": "ASSISTANT"}}},
		"conversation.messages.pageInfo": vars{"hasNextPage": false, "hasPreviousPage": true}})
}

// A conversation that is given to another takes no proposal along.
func TestAProposalStaysWithItsOwner(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example")
	talk := maria.talk("Rename role 4 to reviewer")
	p := maria.gql(`{ proposals { edges { node { id fingerprint } } } }`, nil)
	id, fingerprint := p.text("proposals.edges.0.node.id"), p.text("proposals.edges.0.node.fingerprint")
	w.exec(`UPDATE countersign.conversations SET user_id = $1::text::uuid`, w.user("paolo"))
	paolo.gql(`query($c: ID!) { conversation(id: $c) { messages { edges { node { writes { id } } } } proposals { edges { node { id } } } } proposals { edges { node { id } } } }`, vars{"c": talk}).
		want(vars{"conversation.messages.edges.1.node.writes": []any{}, "conversation.proposals.edges": []any{}, "proposals.edges": []any{}})
	paolo.gql(show, vars{"id": id}).refused("FORBIDDEN")
	paolo.confirm(id, fingerprint).refused("FORBIDDEN")
	maria.gql(`query($c: ID!) { conversation(id: $c) { id } }`, vars{"c": talk}).refused("FORBIDDEN")
	maria.gql(`query($id: ID!) { proposal(id: $id) { conversation { title } actingUser { name } } }`, vars{"id": id}).want(vars{"proposal.conversation": nil, "proposal.actingUser.name": "Maria Rossi"})
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	w.invariants()
}
