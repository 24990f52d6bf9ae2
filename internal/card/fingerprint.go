package card

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

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
}

// Fingerprint digests a card when it is made: SHA-256 in hex over a versioned encoding in which every
// part is preceded by its length, so that no two cards encode alike. It is stored, never made again to
// be compared.
func Fingerprint(s Sealed) string {
	e := encoder{sha256.New()}
	e.text("countersign card 1")
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
	e.number(len(r.Changes))
	for _, c := range r.Changes {
		e.text(c.Field)
		e.text(string(c.Type))
		e.value(c.From)
		e.value(c.To)
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
