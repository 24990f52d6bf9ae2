package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/demo"
)

// caller is somebody who signed in, at whatever server runs now.
type caller struct {
	t             *testing.T
	origin, token string
}

// signIn signs somebody in at a running program.
func signIn(t *testing.T, origin, email string) *caller {
	t.Helper()
	c := &caller{t: t, origin: origin}
	body, err := c.post("/session", map[string]any{"email": email, "password": demo.Password})
	var in struct{ Token string }
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil || in.Token == "" {
		t.Fatalf("sign in as %s: %s, %v", email, body, err)
	}
	c.token = in.Token
	return c
}

func (c *caller) post(path string, what map[string]any) ([]byte, error) {
	body, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(c.t.Context()), http.MethodPost, c.origin+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	return answer, errors.Join(err, response.Body.Close())
}

// proposal is as much of one as these tests look at.
type proposal struct{ Typename, ID, Fingerprint, Status string }

const proposalFields = `Typename: __typename ... on Proposal { id fingerprint status }`

// rename proposes another name for role 4.
func (c *caller) rename(name string) proposal {
	c.t.Helper()
	made, err := c.mutate("proposeChange", "ProposeChangeInput", proposalFields, map[string]any{
		"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": map[string]any{"name": name}})
	if err != nil || made.Status != "PENDING" {
		c.t.Fatalf("propose: %+v, %v", made, err)
	}
	return made
}

// confirm confirms what a card showed. The error is that of the connection, or of GraphQL.
func (c *caller) confirm(p proposal) (proposal, error) {
	return c.mutate("confirmProposal", "DecideProposalInput", proposalFields, map[string]any{"id": p.ID, "fingerprint": p.Fingerprint})
}

func (c *caller) mutate(mutation, input, fields string, in map[string]any) (result proposal, err error) {
	body, err := c.post("/graphql", map[string]any{"query": fmt.Sprintf("mutation($in: %s!) { done: %s(input: $in) { result { %s } } }", input, mutation, fields), "variables": map[string]any{"in": in}})
	if err != nil {
		return result, err
	}
	var answer struct {
		Data   struct{ Done *struct{ Result proposal } }
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Data.Done == nil {
		return result, fmt.Errorf("answered %s", strings.TrimSpace(string(body)))
	}
	return answer.Data.Done.Result, nil
}

// left tells what the database holds of a renaming: its status, the role's name, and how many final
// decisions, applied events and confirm calls there are.
const left = `SELECT p.status || ' ' || (SELECT name FROM core.roles WHERE id = 4)
	|| ' ' || (SELECT count(*) FROM countersign.proposal_decisions d WHERE d.final)
	|| ' ' || (SELECT count(*) FROM countersign.events WHERE type = 'applied')
	|| ' ' || (SELECT count(*) FROM countersign.tool_calls WHERE tool = 'confirm' AND finished_at IS NOT NULL)
	|| ' ' || (SELECT count(*) FROM countersign.audit_events WHERE outcome = 'applied')
	FROM countersign.proposals p ORDER BY number DESC LIMIT 1`

const (
	stillPending = "pending editor 0 0 0 0"
	nowApplied   = "applied reviewer 1 1 1 1"
)
