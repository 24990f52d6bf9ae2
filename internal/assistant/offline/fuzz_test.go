package offline

import (
	"reflect"
	"testing"
)

// FuzzAnswer says anything to two registries, the same twice: no panic, no tool that is not offered, the
// same answer and the same proposals, and never more than a message may make.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"Rename role 4 to reviewer", "Can we push PO-1042 by two days?", "Set priority 2 on all released orders", "Which orders are released?", "What can you do?", "yes, apply it",
		"set FIELD of \"a 'b' c\" to ‘x’ and notes = “y”", "call the sheep dolly's name to of to for on", "list books with on loan yes and shelf north_wing, price = 9", "clear the driver's name of fleet vehicle 7/31",
		"1. delete role 7;\n2) create a bill of materials called x with set y", "move möbel.étagère 12's HÖHE to -0", "\"", "“", "'s", "= = =", "to to to", "#", "\x00\xff", "push of by a day by a day",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		for _, make := range []func(*testing.T) *world{smallMill, oddWorld} {
			first, again := make(t), make(t)
			if a, b := first.say(message), again.say(message); a != b || a == "" {
				t.Errorf("%q\n  says %q\n  and then %q", message, a, b)
			}
			if !reflect.DeepEqual(first.proposed, again.proposed) || len(first.proposed) > mostProposals {
				t.Errorf("%q proposes %v\n  and then %v", message, first.proposed, again.proposed)
			}
		}
	})
}
