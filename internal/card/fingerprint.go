package card

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math/big"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// Sealed is everything a fingerprint covers: what would be done, for whom, to which state of which
// records. Expiry, labels, language and live warnings are not in it.
type Sealed struct {
	Proposal        id.Proposal
	Workspace       id.Workspace
	ActingUser      id.User
	Tool            string
	Entity          string
	Operation       sqlc.WriteOperation
	ActionKind      string
	ApprovalsNeeded int32
	PreviewOnly     bool
	// Salt keeps a masked value from being guessed by its fingerprint.
	Salt    []byte
	Records []Record
	// ApproverRole says of which role the approvers are; Rehearsal what the rehearsal showed, nil for none.
	ApproverRole sqlc.Role
	Rehearsal    *Rehearsal
	// RevertOf is the proposal that this one undoes, Conflicts what it leaves as it is.
	RevertOf  id.Proposal
	Conflicts []Conflict
}

// Fingerprint digests a card when it is made: SHA-256 in hex over a versioned encoding in which every
// part is preceded by its length, so that no two cards encode alike. It is stored, never made again to
// be compared.
func Fingerprint(s Sealed) string {
	e := encoder{sha256.New()}
	e.text("countersign card 2")
	e.text(s.Proposal.String())
	e.text(s.Workspace.String())
	e.text(s.ActingUser.String())
	e.text(s.Tool)
	e.text(s.Entity)
	e.text(string(s.Operation))
	e.text(s.ActionKind)
	e.number(int(s.ApprovalsNeeded))
	e.flag(s.PreviewOnly)
	e.text(string(s.Salt))
	e.number(len(s.Records))
	for _, r := range s.Records {
		e.record(r)
	}
	e.text(string(s.ApproverRole))
	e.rehearsal(s.Rehearsal)
	e.text(s.RevertOf.String())
	e.conflicts(s.Conflicts)
	return hex.EncodeToString(e.Sum(nil))
}

type encoder struct{ hash.Hash }

func (e encoder) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	_, _ = e.Write(b[:])
}

func (e encoder) text(s string) {
	e.number(len(s))
	_, _ = e.Write([]byte(s))
}

func (e encoder) flag(on bool) {
	if on {
		e.number(1)
		return
	}
	e.number(0)
}

func (e encoder) record(r Record) {
	e.text(r.Entity)
	e.text(string(r.Operation))
	e.text(r.Key)
	e.text(r.Version)
	e.changes(r.Changes)
}

func (e encoder) rehearsal(r *Rehearsal) {
	e.flag(r != nil)
	if r == nil {
		return
	}
	e.text(string(r.Status))
	e.number(len(r.SideEffects))
	for _, s := range r.SideEffects {
		e.text(s.Table)
		e.text(s.Operation)
		e.number(s.Rows)
	}
	e.number(len(r.AlsoSets))
	for _, a := range r.AlsoSets {
		e.changes([]Change{a.Change})
		e.number(a.Records)
		e.number(len(a.Positions))
		for _, p := range a.Positions {
			e.number(int(p))
		}
	}
}

func (e encoder) changes(changes []Change) {
	e.number(len(changes))
	for _, c := range changes {
		e.text(c.Field)
		e.text(string(c.Type))
		e.value(c.From)
		e.value(c.To)
		e.value(c.Applied)
	}
}

func (e encoder) value(v *Value) {
	switch {
	case v == nil:
		e.number(0)
	case v.Null:
		e.number(1)
	default:
		e.number(2)
		e.flag(v.Masked)
		e.text(string(v.JSON))
	}
}

// Intent digests what is wanted, whatever the records are like now: two cards of one intent do the same to
// the same records, and undo the same. It is nil where a masked value is among what is wanted, which a digest would give away.
func Intent(s Sealed) []byte {
	e := encoder{sha256.New()}
	e.text("countersign intent 3")
	e.flag(s.PreviewOnly)
	e.text(s.Tool)
	e.text(s.Entity)
	e.text(string(s.Operation))
	e.text(s.RevertOf.String())
	e.number(len(s.Records))
	for _, r := range s.Records {
		e.text(r.Entity)
		e.text(string(r.Operation))
		e.text(r.Key)
		e.number(len(r.Changes))
		for _, c := range r.Changes {
			if c.To != nil && c.To.Masked {
				return nil
			}
			e.text(c.Field)
			e.value(c.wanted())
		}
	}
	return e.Sum(nil)
}

// wanted is what a change leads to, one decimal however many zeros it is written with.
func (c Change) wanted() *Value {
	var text json.Number
	if c.To == nil || c.To.Null || c.Type != Decimal || json.Unmarshal(c.To.JSON, &text) != nil {
		return c.To
	}
	n, ok := new(big.Rat).SetString(text.String())
	if !ok {
		return c.To
	}
	return &Value{JSON: json.RawMessage(n.RatString())}
}
