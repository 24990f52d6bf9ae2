package record

import (
	"testing"
	"time"
)

func TestTheStricterApprovalHolds(t *testing.T) {
	of := func(n int32, role string, days time.Duration) Approval {
		return Approval{Needed: n, Role: role, Lifetime: days * 24 * time.Hour}
	}
	none := of(0, "approver", 7)
	for _, c := range []struct{ a, b, want Approval }{
		{none, none, none},
		{none, of(1, "member", 9), of(1, "member", 9)},
		{of(2, "approver", 7), of(1, "operator", 2), of(2, "operator", 2)},
		{of(1, "approver", 7), of(1, "member", 7), of(1, "approver", 7)},
	} {
		for _, got := range []Approval{c.a.And(c.b), c.b.And(c.a)} {
			if got != c.want {
				t.Errorf("%v and %v: %v", c.a, c.b, got)
			}
		}
	}
}
