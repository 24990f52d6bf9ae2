package gate

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// ranks are the roles that approve, the lowest first.
var ranks = []string{string(sqlc.RoleMember), string(sqlc.RoleApprover), string(sqlc.RoleOperator)}

// need is the approval that has to follow a confirm: of what a proposal is, and of every operation its records
// make, so that no other door to the same change asks for less. Each of written is an entity, a space, and an
// operation.
func (g *Gate) need(of record.Approval, written []string) record.Approval {
	for _, one := range written {
		entity, op, _ := strings.Cut(one, " ")
		if e, ok := g.registry.Entity(entity); ok {
			of = stricter(of, e.Approval(single(record.Operation(op))))
		}
	}
	return of
}

// ApprovalOf is the approval that an operation needs: a change of many, at least what a change of one does.
func ApprovalOf(e *record.Entity, op record.Operation) record.Approval {
	return stricter(e.Approval(op), e.Approval(single(op)))
}

// single is what a change of many does to each.
func single(op record.Operation) record.Operation {
	if op == record.BulkUpdate {
		return record.Update
	}
	return op
}

// stricter is the approval that satisfies both: as many, of the higher role, in the shorter time.
func stricter(a, b record.Approval) record.Approval {
	switch {
	case b.Needed == 0:
		return a
	case a.Needed == 0:
		return b
	}
	both := record.Approval{Needed: max(a.Needed, b.Needed), Role: a.Role, Lifetime: min(a.Lifetime, b.Lifetime)}
	if slices.Index(ranks, b.Role) > slices.Index(ranks, a.Role) {
		both.Role = b.Role
	}
	return both
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
