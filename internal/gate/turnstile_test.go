package gate

import (
	"context"
	"testing"

	"github.com/countersign/countersign/internal/id"
)

func TestFewPassAtOneProposalAndNobodyElseWaits(t *testing.T) {
	var s turnstile
	which := id.NewProposal()
	var leaves []func()
	for range atOnce {
		leave, err := s.enter(t.Context(), which)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.enter(gone, which); err == nil {
		t.Error("one more passed")
	}
	other, err := s.enter(t.Context(), id.NewProposal())
	if err != nil {
		t.Error("another proposal had to wait")
	}
	other()
	leaves[0]()
	again, err := s.enter(t.Context(), which)
	if err != nil {
		t.Error("a place that was left is not to be had")
	}
	for _, leave := range append(leaves[1:], again) {
		leave()
	}
	if len(s.at) != 0 {
		t.Errorf("%d proposals are still kept", len(s.at))
	}
}
