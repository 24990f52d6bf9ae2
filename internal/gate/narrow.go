package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Policies are those of a workspace, as a call or a page read them.
type Policies = record.Policies

// PoliciesOf makes them of what was read.
func PoliciesOf(row *sqlc.PoliciesNowRow, err error) (Policies, error) {
	if err != nil {
		return Policies{}, err
	}
	return record.PoliciesOf(row.PolicyVersion, row.Policies)
}

// under is what is wanted as policies leave it.
func (in Intent) under(p Policies) Intent {
	if in.Action != nil {
		in.Action = in.Action.Under(p, in.Entity)
	}
	in.Entity, in.Policies = in.Entity.Under(p, in.Operation), p
	return in
}

// approval is what has to follow a confirm at least; what is asked for its records comes to it.
func (in Intent) approval() record.Approval {
	if in.Action != nil {
		return in.Action.Approval()
	}
	return ApprovalOf(in.Entity, in.Operation)
}

// lifetime is how long it waits to be confirmed.
func (in Intent) lifetime() time.Duration {
	if in.Action != nil {
		return cmp.Or(in.Action.Lifetime, in.Entity.Lifetime)
	}
	return in.Entity.Lifetime
}

// barred says which change of a draft policies do not leave: no other door to it is open either.
func (d *drafted) barred(in Intent, role sqlc.Role) error {
	left := bars{policies: in.Policies, bulk: in.Operation == record.BulkUpdate}
	for i, c := range d.changes {
		if left.leaves(c.Entity, c.Operation) {
			continue
		}
		fields := d.drafts[i].Changed
		if c.Operation == record.Create {
			fields = given(d.drafts[i].To)
		}
		switch field, off := left.bar(c.Entity, c.Operation, fields); {
		case in.Policies.Bars(c.Entity, c.Operation, string(role)):
			return &Refusal{Code: NotOffered, Message: "This is not offered to you here."}
		case off:
			return &Refusal{Code: SwitchedOff, Message: "The operator has switched this kind of change off."}
		case field != "":
			return &Refusal{Code: FieldNotWritable, Field: field, Message: fmt.Sprintf("%q is not offered for change here.", field)}
		}
	}
	return nil
}

// barredFrom tells whether policies take something that records do, as need takes it, from a role.
func (g *Gate) barredFrom(written []string, under Policies, role sqlc.Role) bool {
	return slices.ContainsFunc(written, func(one string) bool {
		entity, op, _ := strings.Cut(one, " ")
		e, known := g.registry.Entity(entity)
		return known && under.Bars(e, record.Operation(op), string(role))
	})
}

// barred tells whether policies do not leave something of what was confirmed any more.
func (d *decision) barred(writes []record.Write) bool {
	left := bars{policies: d.policies, bulk: d.facts.proposal.Operation == sqlc.WriteOperationBulkUpdate}
	return slices.ContainsFunc(writes, func(w record.Write) bool {
		if left.leaves(w.Entity, w.Operation) {
			return false
		}
		field, off := left.bar(w.Entity, w.Operation, given(w.Values))
		return off || field != ""
	})
}

func given(values map[string]record.Value) []string {
	list := make([]string, 0, len(values))
	for name := range values {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// bars are what policies keep of an entity's changes, each looked at once.
type bars struct {
	policies Policies
	bulk     bool
	known    map[*record.Entity]map[record.Operation]*record.Entity
}

// leaves tells whether no policy bears on such a change at all.
func (b *bars) leaves(e *record.Entity, op record.Operation) bool { return b.under(e, op) == e }

// bar gives a field that may not be set any more, where there is one, or says that the change is switched off.
func (b *bars) bar(e *record.Entity, op record.Operation, fields []string) (field string, off bool) {
	left := b.under(e, op)
	if b.policies.Off(e, b.done(op)) {
		return "", true
	}
	for _, name := range fields {
		before, known := e.Field(name)
		if now, _ := left.Field(name); known && before.Writable && !now.Writable {
			return name, false
		}
	}
	return "", false
}

// previews tells whether such a change is only previewed.
func (b *bars) previews(e *record.Entity, op record.Operation) bool {
	return b.under(e, op).PreviewOnly
}

// done is the operation by which the change is made.
func (b *bars) done(op record.Operation) record.Operation {
	if b.bulk {
		return record.BulkUpdate
	}
	return op
}

func (b *bars) under(e *record.Entity, op record.Operation) *record.Entity {
	op = b.done(op)
	if b.known == nil {
		b.known = map[*record.Entity]map[record.Operation]*record.Entity{}
	}
	if b.known[e] == nil {
		b.known[e] = map[record.Operation]*record.Entity{}
	}
	if b.known[e][op] == nil {
		b.known[e][op] = e.Under(b.policies, op)
	}
	return b.known[e][op]
}
