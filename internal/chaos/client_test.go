//go:build failpoints

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// client is somebody, or a token, at one of the servers.
type client struct {
	at         *node
	credential string
}

// reply is what came of a request.
type reply struct {
	lost     error // nothing was answered
	code     string
	message  string
	typename string
	id       string
	status   string
	print    string // the fingerprint
	refusal  string
}

type vars = map[string]any

const (
	made    = `__typename ... on Proposal { id status print: fingerprint }`
	decided = `result { ` + made + ` ... on AlreadyDecided { message proposal { id status } } ... on CardOutdated { message } }`
	offered = `result { ` + made + ` ... on ProposalRefused { refusal: code message } }`
	talk    = `mutation($c: ID!, $m: String!) { done: sendMessage(input: {conversationId: $c, content: $m}) { failure { code } message { writes { id status print: fingerprint } } } }`
)

func mutation(name, input, fields string) string {
	return `mutation($in: ` + input + `!) { done: ` + name + `(input: $in) { ` + fields + ` } }`
}

var documents = map[string]string{
	"propose":    mutation("proposeChange", "ProposeChangeInput", offered),
	"revise":     mutation("reviseProposal", "ReviseProposalInput", offered),
	"confirm":    mutation("confirmProposal", "DecideProposalInput", decided),
	"approve":    mutation("approveProposal", "DecideProposalInput", decided),
	"reject":     mutation("rejectProposal", "RejectProposalInput", decided),
	"disapprove": mutation("disapproveProposal", "RejectProposalInput", decided),
	"withdraw":   mutation("withdrawProposal", "WithdrawProposalInput", decided),
	"extend":     mutation("extendProposal", "ExtendProposalInput", decided),
}

// do asks for one thing and tells what came of it.
func (c *client) do(ctx context.Context, verb string, in vars) reply {
	return c.ask(ctx, documents[verb], vars{"in": in})
}

func (c *client) ask(ctx context.Context, document string, variables vars) reply {
	body, err := json.Marshal(vars{"query": document, "variables": variables})
	if err != nil {
		return reply{lost: err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at.url()+"/graphql", bytes.NewReader(body))
	if err != nil {
		return reply{lost: err}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.credential)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return reply{lost: err}
	}
	defer func() { _ = response.Body.Close() }()
	return read(response)
}

type proposal struct{ ID, Status, Print string }

func read(response *http.Response) reply {
	var answer struct {
		Data struct {
			Done *struct {
				Result struct {
					proposal
					Typename string `json:"__typename"`
					Message  string
					Refusal  string
					Proposal proposal
				}
				Failure      *struct{ Code string }
				Message      *struct{ Writes []proposal }
				Conversation proposal
			}
			Proposal *proposal
		}
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return reply{lost: err}
	}
	if len(answer.Errors) > 0 {
		return reply{code: answer.Errors[0].Extensions.Code, message: answer.Errors[0].Message}
	}
	done := answer.Data.Done
	switch {
	case answer.Data.Proposal != nil:
		return reply{typename: "Proposal", id: answer.Data.Proposal.ID, status: answer.Data.Proposal.Status, print: answer.Data.Proposal.Print}
	case done == nil:
		return reply{code: "NOTHING"}
	case done.Failure != nil:
		return reply{typename: "Failure", refusal: done.Failure.Code}
	case done.Message != nil && len(done.Message.Writes) > 0:
		first := done.Message.Writes[0]
		return reply{typename: "Proposal", id: first.ID, status: first.Status, print: first.Print}
	case done.Conversation.ID != "":
		return reply{typename: "Conversation", id: done.Conversation.ID}
	}
	r := done.Result
	if r.Proposal.ID != "" {
		r.proposal = r.Proposal
	}
	return reply{typename: r.Typename, message: r.Message, refusal: r.Refusal, id: r.ID, status: r.Status, print: r.Print}
}

// answered: it is known what came of it.
func (r reply) answered() bool {
	return r.lost == nil && r.code != "UNAVAILABLE" && r.code != "INTERNAL" && r.typename != "Failure"
}

// undone: it was said that nothing was changed.
func (r reply) undone() bool {
	return r.lost == nil && r.code == "UNAVAILABLE" && strings.Contains(r.message, "nothing was changed")
}

// say writes a message in a conversation of its own.
func (c *client) say(ctx context.Context, message string) reply {
	r := c.ask(ctx, `mutation { done: createConversation(input: {}) { conversation { id } } }`, nil)
	if r.typename != "Conversation" {
		return r
	}
	return c.ask(ctx, talk, vars{"c": r.id, "m": message})
}

func (c *client) show(ctx context.Context, id string) reply {
	return c.ask(ctx, `query($id: ID!) { proposal(id: $id) { id status print: fingerprint } }`, vars{"id": id})
}

// decide does one verb to a proposal as its card was seen.
func (c *client) decide(ctx context.Context, verb string, p reply) reply {
	in := vars{"id": p.id}
	if verb == "confirm" || verb == "approve" {
		in["fingerprint"] = p.print
	}
	return c.do(ctx, verb, in)
}
