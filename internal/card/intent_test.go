package card_test

import (
	"bytes"
	"testing"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
)

// Two proposals that undo different ones are two wishes, though they lead to the same.
func TestAnIntentIsOfWhatItUndoes(t *testing.T) {
	one := card.Sealed{Tool: "revert_proposal", RevertOf: id.NewProposal(), Records: []card.Record{{Entity: "core.role", Key: "4"}}}
	other := one
	if other.Proposal = id.NewProposal(); !bytes.Equal(card.Intent(one), card.Intent(other)) {
		t.Error("one wish has two intents")
	}
	if other.RevertOf = id.NewProposal(); bytes.Equal(card.Intent(one), card.Intent(other)) {
		t.Error("two wishes have one intent")
	}
}
