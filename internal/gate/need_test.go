package gate

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/record"
)

func TestTheStricterApprovalHolds(t *testing.T) {
	of := func(n int32, role string, days time.Duration) record.Approval {
		return record.Approval{Needed: n, Role: role, Lifetime: days * 24 * time.Hour}
	}
	none := of(0, "approver", 7)
	for _, c := range []struct{ a, b, want record.Approval }{
		{none, none, none},
		{none, of(1, "member", 9), of(1, "member", 9)},
		{of(2, "approver", 7), of(1, "operator", 2), of(2, "operator", 2)},
		{of(1, "approver", 7), of(1, "member", 7), of(1, "approver", 7)},
	} {
		for _, got := range []record.Approval{stricter(c.a, c.b), stricter(c.b, c.a)} {
			if got != c.want {
				t.Errorf("%v and %v: %v", c.a, c.b, got)
			}
		}
	}
}

func TestATwinThatIsGoneIsTriedAgain(t *testing.T) {
	if !raced(fmt.Errorf("proposing: %w", errTwinGone)) || raced(nil) {
		t.Error("who met a twin that ended is not tried again")
	}
}
