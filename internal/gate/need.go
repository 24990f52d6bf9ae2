package gate

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/record"
)

// need is the approval that has to follow a confirm: of what a proposal is, and of every operation its records
// make, so that no other door to the same change asks for less. Each of written is an entity, a space, and an
// operation.
func (g *Gate) need(of record.Approval, under record.Policies, written []string) record.Approval {
	for _, one := range written {
		entity, name, _ := strings.Cut(one, " ")
		if e, ok := g.registry.Entity(entity); ok {
			op := single(record.Operation(name))
			of = of.And(e.Under(under, op).Approval(op))
		}
	}
	return of
}

// ApprovalOf is the approval that an operation needs: a change of many, at least what a change of one does.
func ApprovalOf(e *record.Entity, op record.Operation) record.Approval {
	return e.Approval(op).And(e.Approval(single(op)))
}

// single is what a change of many does to each.
func single(op record.Operation) record.Operation {
	if op == record.BulkUpdate {
		return record.Update
	}
	return op
}

// written are the operations that a draft makes, each once.
func (d *drafted) written() []string {
	var list []string
	for _, c := range d.changes {
		if one := c.Entity.Name + " " + string(c.Operation); !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}
