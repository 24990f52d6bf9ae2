package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Two decisions in one request run one after the other; the first one stands.
func TestDecisionsInOneRequestAreSerial(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	const result = `{ result { __typename ... on Proposal { status decisions { kind } } ... on AlreadyDecided { proposal { status decisions { kind } } } } }`
	confirmed, rejected := `confirmProposal(input: {id: $id, fingerprint: $f}) `+result, `rejectProposal(input: {id: $id}) `+result
	for name, c := range map[string]struct{ first, second, status, kind string }{
		"confirm first": {confirmed, rejected, "APPLIED", "CONFIRM"}, "reject first": {rejected, confirmed, "REJECTED", "REJECT"},
	} {
		id, fingerprint := maria.rename("4", name)
		maria.gql(`mutation($id: ID!, $f: String!) { x: extendProposal(input: {id: $id}) `+result+` a: `+c.first+` b: `+c.second+` }`, vars{"id": id, "f": fingerprint}).want(vars{
			"x.result":                    vars{"__typename": "Proposal", "status": "PENDING", "decisions": []any{}},
			"a.result":                    vars{"__typename": "Proposal", "status": c.status, "decisions": []any{vars{"kind": c.kind}}},
			"b.result.__typename":         "AlreadyDecided",
			"b.result.proposal.decisions": []any{vars{"kind": c.kind}}, "b.result.proposal.status": c.status})
	}
	w.invariants()
}

// times repeats a text with its number.
func times(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// doubling are fragments that each spread the next one twice.
func doubling(n int, on, last string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " fragment f%d on %s { ...f%d ...f%d }", i, on, i+1, i+1)
	}
	fmt.Fprintf(&b, " fragment f%d on %s { %s }", n, on, last)
	return b.String()
}

func TestARequestOverALimitIsRefusedWhole(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	const begin = `m%d: createConversation(input: {}) { clientMutationId } `
	for name, c := range map[string]struct{ query, code, limit string }{
		"11 mutations":               {`mutation { ` + times(11, begin) + `}`, "LIMIT_EXCEEDED", "mutations in one request"},
		"11 mutations in a fragment": {`mutation { ...all } fragment all on Mutation { ` + times(11, begin) + `}`, "LIMIT_EXCEEDED", "mutations in one request"},
		"100 aliases":                {`mutation { ` + times(100, begin) + `}`, "LIMIT_EXCEEDED", "aliases"},
		"aliases":                    {`{ ` + times(61, `v%d: actionableCount `) + `}`, "LIMIT_EXCEEDED", "aliases"},
		"deep":                       {`{ proposals { edges { node ` + strings.Repeat(`{ supersededBy `, 12) + `{ id }` + strings.Repeat(` }`, 12) + ` } } }`, "LIMIT_EXCEEDED", "depth"},
		"500 deep":                   {`{ proposals { edges { node ` + strings.Repeat(`{ supersededBy `, 500) + `{ id }` + strings.Repeat(` }`, 500) + ` } } }`, "LIMIT_EXCEEDED", "depth"},
		"complexity":                 {`{ conversations(first: 100) { edges { node { messages(first: 100) { edges { node { writes { id number status } } } } } } } }`, "LIMIT_EXCEEDED", "complexity"},
		"100 000 directives":         {`{ actionableCount ` + strings.Repeat(`@a `, 100000) + `}`, "LIMIT_EXCEEDED", ""},
		"10 000 aliases":             {`{ ` + times(10000, `v%d: actionableCount `) + `}`, "LIMIT_EXCEEDED", ""},
		"a fragment in itself":       {`{ ...f } fragment f on Query { ...f actionableCount }`, "GRAPHQL_VALIDATION_FAILED", ""},
		"doubling fragments":         {`{ ...f0 } ` + doubling(200, "Query", "actionableCount"), "LIMIT_EXCEEDED", "fields"},
		"doubling mutations":         {`mutation { ...f0 } ` + doubling(200, "Mutation", "createConversation(input: {}) { clientMutationId }"), "LIMIT_EXCEEDED", "mutations in one request"},
	} {
		began := time.Now()
		a := maria.gql(c.query, nil)
		took := time.Since(began)
		if took > 2*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		t.Log(name, took, a.raw)
		a.refused(c.code)
		if len(a.Errors) != 1 || a.Data != nil || c.limit != "" && a.Errors[0].Extensions["limit"] != c.limit {
			t.Errorf("%s: %.500s", name, a.raw)
		}
	}
	if n := w.sql(`SELECT count(*) FROM countersign.conversations`); n != "0" {
		t.Errorf("%s mutations ran", n)
	}
	maria.gql(`mutation { `+times(10, begin)+`}`, nil).want(nil)
	if n := w.sql(`SELECT count(*) FROM countersign.conversations`); n != "10" {
		t.Errorf("%s of 10 mutations ran", n)
	}
}
