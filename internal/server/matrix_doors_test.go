package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/internal/server"
	"github.com/countersign/countersign/sqlc"
)

// door is a surface to decide through. do gives "stands", "too late", "outdated", or the code of an error; look
// the verbs that are offered, whether it is among what waits for them, and false where it is not seen.
type door interface {
	do(name string, verb rune, id, fingerprint string) string
	look(name, id string) (offered string, waits, sees bool)
}

var verbsOf = map[string]string{"CONFIRM": "c", "REJECT": "r", "REVISE": "v", "APPROVE": "a", "DISAPPROVE": "d", "WITHDRAW": "w", "EXTEND": "e"}

func letters(actions []string) string {
	all := ""
	for _, a := range actions {
		all += verbsOf[a]
	}
	return inOrder(all)
}

func inOrder(verbs string) string {
	list := []rune(verbs)
	slices.SortFunc(list, func(a, b rune) int { return strings.IndexRune(allVerbs, a) - strings.IndexRune(allVerbs, b) })
	return string(list)
}

// throughGraphQL decides over HTTP.
type throughGraphQL struct{ *stage }

// mutations are the verbs, each with the type of its input.
var mutations = map[rune][2]string{'c': {"confirmProposal", "DecideProposalInput"}, 'a': {"approveProposal", "DecideProposalInput"}, 'd': {"disapproveProposal", "RejectProposalInput"},
	'r': {"rejectProposal", "RejectProposalInput"}, 'w': {"withdrawProposal", "WithdrawProposalInput"}, 'e': {"extendProposal", "ExtendProposalInput"}, 'v': {"reviseProposal", "ReviseProposalInput"}}

func (g throughGraphQL) do(name string, verb rune, id, fingerprint string) string {
	path, in, refused := mutations[verb][0], vars{"id": id}, ""
	switch verb {
	case 'c', 'a':
		in["fingerprint"] = fingerprint
	case 'v':
		in["fingerprint"], in["changes"], refused = fingerprint, g.other(id), " ... on ProposalRefused { code }"
	}
	a := g.clients[name].gql(`mutation($in: `+mutations[verb][1]+`!) { `+path+`(input: $in) { result { __typename`+refused+` } } }`, vars{"in": in})
	if len(a.Errors) > 0 {
		code, _ := a.Errors[0].Extensions["code"].(string)
		return code
	}
	kind := a.text(path + ".result.__typename")
	if kind == "ProposalRefused" {
		kind = a.text(path + ".result.code")
	}
	return map[string]string{"Proposal": "stands", "AlreadyDecided": "too late", "ALREADY_DECIDED": "too late", "CardOutdated": "outdated", "CARD_OUTDATED": "outdated"}[kind]
}

func (g throughGraphQL) look(name, id string) (string, bool, bool) {
	c := g.clients[name]
	a := c.gql(`query($id: ID!) { proposal(id: $id) { viewerActions } }`, vars{"id": id})
	seen := c.gql(`{ all: proposals(first: 1) { edges { node { id } } } waiting: proposals(filter: {actionable: true}, first: 1) { edges { node { id } } }
		other: proposals(filter: {actionable: false}, first: 1) { edges { node { id } } } }`, nil)
	first := func(list string) bool {
		edges, _ := seen.at(list + ".edges").([]any)
		return len(edges) == 1 && seen.text(list+".edges.0.node.id") == id
	}
	if len(a.Errors) > 0 {
		if first("all") || first("waiting") || first("other") {
			g.t.Errorf("%s is refused %s, and has it in a list", name, id)
		}
		return "", false, false
	}
	if !first("all") || first("waiting") == first("other") {
		g.t.Errorf("%s sees %s, and has it not in the lists: %s", name, id, seen.raw)
	}
	actions := []string{}
	for _, one := range a.at("proposal.viewerActions").([]any) {
		actions = append(actions, one.(string))
	}
	return letters(actions), first("waiting"), true
}

// other is another value for what a proposal changes.
func (s *stage) other(proposal string) vars {
	s.made++
	field := s.sql(`SELECT changes -> 0 ->> 'field' FROM countersign.proposal_records WHERE proposal_id = $1`, uuidOf(s.t, proposal))
	if strings.HasSuffix(field, "minutes") {
		return vars{field: 1000 + s.made}
	}
	return vars{field: fmt.Sprintf("another %d", s.made)}
}

// throughTheGate decides by calling it, as every surface does.
type throughTheGate struct {
	*stage
	gate    *gate.Gate
	persons map[string]identity.Person
}

func newGateDoor(t *testing.T, s *stage) throughTheGate {
	c := &server.Config{}
	matrixRegistry(t)(c)
	registry, err := record.Parse(t.Context(), s.db.Pools.Reader, "countersign.yaml", c.Registry)
	if err != nil {
		t.Fatal(err)
	}
	g := throughTheGate{stage: s, persons: map[string]identity.Person{}}
	g.gate = gate.New(gate.Pools{Gate: s.db.Pools.Gate, Agent: s.db.Pools.Agent, Worker: s.db.Pools.Worker}, registry, gate.DefaultLimits, func() {}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	for _, email := range people {
		name, _, _ := strings.Cut(email, "@")
		g.persons[name] = s.db.Person(t, email)
	}
	return g
}

func (g throughTheGate) do(name string, verb rune, text, fingerprint string) string {
	by, ctx := g.persons[name], g.t.Context()
	which, err := id.ParseProposal(text)
	if err != nil {
		g.t.Fatal(err)
	}
	var a *gate.Answer
	switch verb {
	case 'c':
		a, err = g.gate.Confirm(ctx, by, which, fingerprint)
	case 'a':
		a, err = g.gate.Approve(ctx, by, which, fingerprint)
	case 'd':
		a, err = g.gate.Disapprove(ctx, by, which, "no")
	case 'r':
		a, err = g.gate.Reject(ctx, by, which, "")
	case 'w':
		a, err = g.gate.Withdraw(ctx, by, which)
	case 'e':
		a, err = g.gate.Extend(ctx, by, which)
	case 'v':
		values := map[string]json.RawMessage{}
		for field, v := range g.other(text) {
			values[field], _ = json.Marshal(v)
		}
		_, err = g.gate.Revise(ctx, by, gate.Revision{Of: which, Seen: fingerprint, Values: values, Channel: sqlc.ChannelApi})
		a = &gate.Answer{Verdict: gate.Stands}
	}
	if refusal := (*gate.Refusal)(nil); errors.As(err, &refusal) {
		return map[gate.RefusalCode]string{gate.DecidedBefore: "too late", gate.OtherCard: "outdated"}[refusal.Code]
	}
	if err != nil {
		return string(gate.CodeOf(err))
	}
	return map[gate.Verdict]string{gate.Stands: "stands", gate.AlreadyDecided: "too late", gate.CardOutdated: "outdated"}[a.Verdict]
}

func (g throughTheGate) look(name, text string) (string, bool, bool) {
	by, ctx := g.persons[name], g.t.Context()
	tx, err := g.db.Owner.Begin(ctx)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	which, err := id.ParseProposal(text)
	if err != nil {
		g.t.Fatal(err)
	}
	p, err := sqlc.New().GetProposal(ctx, tx, which)
	if err != nil {
		g.t.Fatal(err)
	}
	rows, err := sqlc.New().DecisionsOfProposals(ctx, tx, id.UUIDs([]id.Proposal{which}))
	if err != nil {
		g.t.Fatal(err)
	}
	seen := gate.Seen{ActingUser: p.ActingUserID, RequiresApproval: p.RequiresApproval, ApproverRole: p.ApproverRole, Shared: p.Shared, Entity: p.Entity, ActionKind: p.ActionKind, Status: p.Status}
	for _, r := range rows {
		seen.Deciders = append(seen.Deciders, r.ProposalDecision.PersonID)
	}
	sight := g.gate.Sight(by)
	if by.Workspace().ID != p.WorkspaceID || !sight.Sees(seen) {
		return "", false, false
	}
	actions := []string{}
	for _, a := range g.gate.Actions(p, by, gate.TakenOf(rows), gate.Policies{}) {
		actions = append(actions, string(a))
	}
	return letters(actions), sight.Awaits(seen), true
}
