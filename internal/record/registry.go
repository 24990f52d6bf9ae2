// Package record knows the host's records: which entities countersign.yaml offers, how their tables look,
// and how a record is read, drafted and written as the person who asks. Nothing else builds SQL for the
// host's tables. A value travels as text from JSON to PostgreSQL and back and is never a float on the way.
package record

import (
	"strings"
	"time"
)

// Registry is countersign.yaml bound to the database it describes. It does not change once loaded.
type Registry struct {
	assistant Assistant
	keepDays  int
	sources   []*Source
	entities  []*Entity
	byName    map[string]*Entity
	tables    int // of the database when it was loaded
	file      string
	actions   []*CustomAction
}

// Assistant says whether there is an assistant, and which model answers.
type Assistant struct {
	Enabled  bool
	Provider string
	// RejectedWithin is how long an agent may not propose again what a person rejected.
	RejectedWithin time.Duration
	// ProposalsPerTurn is the most that one answer of the assistant proposes.
	ProposalsPerTurn int
}

// Approval is what has to follow a confirm of an operation: so many other people of a role, in time. Where
// none is needed Needed is zero, and the rest is what would be meant.
type Approval struct {
	Needed   int32
	Role     string // of a membership, as the database spells it
	Lifetime time.Duration
}

// MaxSet is the most records of one proposal.
const MaxSet = 10_000

// Source is a set of tables in this database that are read and written under two roles of the host.
type Source struct {
	Name    string
	ReadAs  string
	WriteAs string // empty where nothing is written

	searchPath string
	settings   []setting
}

// Confirm says who, besides its acting user, may confirm a proposal about an entity.
type Confirm string

// The ways to confirm.
const (
	ConfirmOwner     Confirm = "OWNER"
	ConfirmWorkspace Confirm = "WORKSPACE"
)

// Entity is one kind of record that countersign.yaml offers, module.entity.
type Entity struct {
	Name   string
	Title  string
	Plural string
	// Key names the columns of the key, in the order of a composite key's JSON array.
	Key []string
	// Fields are those exposed, in the registry's order. A column that is hidden or not listed is in no answer.
	Fields   []*Field
	Lifetime time.Duration
	BulkCap  int
	Confirm  Confirm
	// Cites is false where answers that rest on these records do not name them.
	Cites bool
	// Rehearses is false where a change is not tried before it is proposed.
	Rehearses bool
	// PreviewOnly: changes are proposed and confirmed, and nothing is written.
	PreviewOnly bool

	source *Source
	oid    uint32
	table  string // with its schema, quoted
	view   bool
	// relation is the table as it was when the registry was loaded
	relation *relation
	homes    []string // OIDs of the tables where its rows are
	offers   map[Operation]offer
	key      []*column
	label    template
	url      template
	locks    []lock
	columns  map[string]*column // every column, listed or not
}

// offer is what the registry says about one operation of an entity.
type offer struct {
	roles    []string
	approval Approval
}

// Field is one exposed field of an entity.
type Field struct {
	Name  string
	Label string
	Type  Type
	// Writable fields may be proposed. Those of the key are set when a record is created and stay.
	Writable bool
	// Masked fields are written and compared but never shown: callers replace the value by a mark.
	Masked   bool
	Nullable bool
	// Required fields have to be given when a record is created.
	Required   bool
	MaxLength  int      // in characters; 0 where the column has no limit
	Values     []string // of an enum
	References string   // the entity a reference points at

	column *column
	target *Entity
}

// Entity finds an entity by its name, module.entity.
func (r *Registry) Entity(name string) (*Entity, bool) {
	e, ok := r.byName[name]
	return e, ok
}

// Entities are in the order of countersign.yaml.
func (r *Registry) Entities() []*Entity { return r.entities }

// Assistant says how the assistant is set up.
func (r *Registry) Assistant() Assistant { return r.assistant }

// ApprovalRetentionDays is for how many days proposals are kept after they ended or lapsed; 0 for always.
func (r *Registry) ApprovalRetentionDays() int { return r.keepDays }

// Sources are in the order of countersign.yaml.
func (r *Registry) Sources() []Source {
	list := make([]Source, len(r.sources))
	for i, s := range r.sources {
		list[i] = *s
	}
	return list
}

// Tables are the tables and views of all entities, each once, quoted and with their schemas.
func (r *Registry) Tables() []string {
	var list []string
	seen := map[string]bool{}
	for _, e := range r.entities {
		if !seen[e.table] {
			seen[e.table] = true
			list = append(list, e.table)
		}
	}
	return list
}

// Module is the first half of the entity's name.
func (e *Entity) Module() string {
	module, _, _ := strings.Cut(e.Name, ".")
	return module
}

// Source is where the entity's records are.
func (e *Entity) Source() Source { return *e.source }

// Field finds an exposed field. A hidden one is not found, as one that does not exist.
func (e *Entity) Field(name string) (*Field, bool) {
	for _, f := range e.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return nil, false
}

// Offers tells whether the registry offers the operation to the role.
func (e *Entity) Offers(op Operation, role string) bool {
	o, ok := e.offers[op]
	if !ok {
		return false
	}
	for _, r := range o.roles {
		if strings.EqualFold(r, role) {
			return true
		}
	}
	return false
}

// Approval says what has to follow a confirm of the operation.
func (e *Entity) Approval(op Operation) Approval {
	if o, ok := e.offers[op]; ok {
		return o.approval
	}
	return none()
}

// IsKey tells whether the field is part of the record's key.
func (e *Entity) IsKey(f *Field) bool {
	for _, c := range e.key {
		if c == f.column {
			return true
		}
	}
	return false
}
