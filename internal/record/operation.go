package record

import "slices"

// Operation is one thing that can be done with an entity.
type Operation string

// The operations there are. Approving is not among them, so no configuration can offer it.
const (
	List       Operation = "list"
	Get        Operation = "get"
	Create     Operation = "create"
	Update     Operation = "update"
	Delete     Operation = "delete"
	BulkUpdate Operation = "bulk_update"
)

// Action is the operation of a custom action: the registry offers it by the action's name, of no entity.
const Action Operation = "action"

// Operations are all operations of an entity, reads first.
var Operations = []Operation{List, Get, Create, Update, Delete, BulkUpdate}

// Writes tells whether the operation changes records, so that it is proposed and not run.
func (op Operation) Writes() bool { return op != List && op != Get }

// The roles of a membership, as countersign.yaml spells them. An auditor proposes nothing.
var roles = []string{"MEMBER", "APPROVER", "OPERATOR", "AUDITOR"}

const auditor = "AUDITOR"

func defaultRoles(op Operation) []string {
	if !op.Writes() {
		return roles
	}
	return slices.DeleteFunc(slices.Clone(roles), func(r string) bool { return r == auditor })
}

// Type is how a field's value is read and shown.
type Type string

// The types of fields. A list is JSON; a type of PostgreSQL's that has no place here is TEXT, and only read.
const (
	Text      Type = "TEXT"
	Integer   Type = "INTEGER"
	Decimal   Type = "DECIMAL"
	Boolean   Type = "BOOLEAN"
	Date      Type = "DATE"
	Timestamp Type = "TIMESTAMP"
	UUID      Type = "UUID"
	Enum      Type = "ENUM"
	Reference Type = "REFERENCE"
	JSON      Type = "JSON"
)
