package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

func text(s string) *card.Value { return &card.Value{JSON: json.RawMessage(`"` + s + `"`)} }

// step is a change of a record: "name: from > to", one side of which may be missing.
func step(op sqlc.WriteOperation, key string, fields ...string) card.Record {
	r := card.Record{Entity: "core.role", Operation: op, Key: key}
	for _, f := range fields {
		name, sides, _ := strings.Cut(f, ": ")
		from, to, _ := strings.Cut(sides, ">")
		c := card.Change{Field: name}
		if from != "" {
			c.From = text(from)
		}
		if to != "" {
			c.To = text(to)
		}
		r.Changes = append(r.Changes, c)
	}
	return r
}

func (d *done) String() string {
	values := func(m map[string]card.Value) string {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(m)) {
			list = append(list, fmt.Sprintf("%s=%s", name, strings.Trim(string(m[name].JSON), `"`)))
		}
		return strings.Join(list, ",")
	}
	return fmt.Sprintf("%s born %t gone %t [%s > %s]", d.key, d.born, d.gone, values(d.before), values(d.applied))
}

func TestWhatAProposalDidToEachRecord(t *testing.T) {
	update, create, remove := sqlc.WriteOperationUpdate, sqlc.WriteOperationCreate, sqlc.WriteOperationDelete
	for name, c := range map[string]struct {
		proposal sqlc.Proposal
		records  []card.Record
		want     string
	}{
		"an update":  {sqlc.Proposal{}, []card.Record{step(update, "4", "name: a>b")}, "4 born false gone false [name=a > name=b]"},
		"a create":   {sqlc.Proposal{OutcomeRecordID: new("12")}, []card.Record{step(create, "", "name: >b")}, "12 born true gone false [ > name=b]"},
		"a deletion": {sqlc.Proposal{}, []card.Record{step(remove, "4", "id: 4>", "name: a>")}, "4 born false gone true [id=4,name=a > ]"},
		"what a new record got besides": {sqlc.Proposal{OutcomeRecordID: new("12"), OutcomeRecord: json.RawMessage(`{"id": "12", "name": "other"}`)},
			[]card.Record{step(create, "", "name: >b")}, "12 born true gone false [ > id=12,name=b]"},
		"what came out otherwise, as was shown": {sqlc.Proposal{Rehearsal: json.RawMessage(`{"status": "PASSED", "alsoSets": [{"field": "name", "to": {"json": "B"}, "records": 1, "positions": [2]}]}`)},
			[]card.Record{step(update, "4", "name: a>b"), step(update, "5", "name: a>b")}, "5 born false gone false [name=a > name=B]; 4 born false gone false [name=a > name=b]"},
		"its own later steps": {sqlc.Proposal{}, []card.Record{step(update, "4", "name: a>b", "x: 1>2"), step(update, "5", "name: c>d"), step(update, "4", "name: b>e", "y: 3>4")},
			"4 born false gone false [name=a,x=1,y=3 > name=e,x=2,y=4]; 5 born false gone false [name=c > name=d]"},
		"made and then changed":     {sqlc.Proposal{OutcomeKeys: []string{"12", "12"}}, []card.Record{step(create, "", "name: >b"), step(update, "12", "name: b>c")}, "12 born true gone false [ > name=c]"},
		"changed and then deleted":  {sqlc.Proposal{}, []card.Record{step(update, "4", "name: a>b"), step(remove, "4", "name: b>", "x: 1>")}, "4 born false gone true [name=a,x=1 > name=b]"},
		"made and then deleted":     {sqlc.Proposal{OutcomeKeys: []string{"12", "12"}}, []card.Record{step(create, "", "name: >b"), step(remove, "12", "name: b>")}, "12 born true gone true [ > name=b]"},
		"made beside a change of 4": {sqlc.Proposal{OutcomeKeys: []string{"4", "12"}}, []card.Record{step(update, "4", "name: a>b"), step(create, "", "name: >b")}, "12 born true gone false [ > name=b]; 4 born false gone false [name=a > name=b]"},
	} {
		u, err := undoOf(&c.proposal, c.records, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list := make([]string, len(u.done))
		for i, one := range u.done {
			list[i] = one.String()
		}
		if got := strings.Join(list, "; "); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
	if _, err := undoOf(&sqlc.Proposal{}, []card.Record{step(create, "", "name: >b")}, nil); err == nil {
		t.Error("what was created is undone without its key")
	}
}

func TestWhatACardCannotHoldIsNotRestored(t *testing.T) {
	stored := storable(json.RawMessage(`{"a": "\u0000"}`))
	for name, c := range map[string]struct {
		value card.Value
		want  bool
	}{
		"what storable made of it": {card.Value{JSON: stored}, true},
		"a text":                   {card.Value{JSON: json.RawMessage(`"a"`)}, false},
		"an object":                {card.Value{JSON: json.RawMessage(`{"a": "\\u0000"}`)}, false},
		"null":                     {card.Value{JSON: json.RawMessage(`null`)}, false},
	} {
		if got := altered(&record.Field{Type: record.JSON}, c.value); got != c.want {
			t.Errorf("%s: altered is %t", name, got)
		}
	}
}

func TestWhatHasValuesToEdit(t *testing.T) {
	for _, op := range sqlc.AllWriteOperationValues() {
		f := facts{proposal: &sqlc.StoredProposal{Operation: op}, terms: terms{offered: true, readable: true, permitted: true}}
		edits := op == sqlc.WriteOperationCreate || op == sqlc.WriteOperationUpdate || op == sqlc.WriteOperationBulkUpdate
		if (f.revisable() == nil) != edits {
			t.Errorf("%s: %v", op, f.revisable())
		}
		if f.proposal.RevertOfID = id.NewProposal(); f.revisable() == nil {
			t.Errorf("%s that undoes another is revised", op)
		}
		if _, known := inverse[op]; !known {
			t.Errorf("%s has no inverse", op)
		}
	}
	if _, err := (&Gate{}).Revise(t.Context(), identity.Person{}, Revision{Of: id.NewProposal()}); CodeOf(err) != Forbidden {
		t.Errorf("revised by nobody: %v", err)
	}
}
