package views

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/card"
)

// seen tells whether the change was tried to the end.
func seen(r *card.Rehearsal) bool { return r != nil && r.Status == card.Passed }

// short tells whether what was seen is in view where a card is met.
func short(r *card.Rehearsal) bool {
	if r == nil {
		return true
	}
	for _, a := range r.AlsoSets {
		if f := FieldOf(a.Change); f.Before.long() || f.After.long() {
			return false
		}
	}
	return len(r.SideEffects)+len(r.AlsoSets) <= 6
}

// rehearsalTitle heads what was seen.
func rehearsalTitle(c Card) string {
	if c.open() {
		return "What else would change"
	}
	return "What else would change, when it was proposed"
}

// effectWords say what would happen to the rows of another table.
func effectWords(e card.SideEffect) string {
	deed := map[string]string{"INSERT": "added", "UPDATE": "changed", "DELETE": "deleted"}[e.Operation]
	if deed == "" {
		deed = "written"
	}
	if e.Rows == 1 {
		return "1 row " + deed
	}
	return fmt.Sprintf("%d rows %s", e.Rows, deed)
}

// alsoField prints what else would be set: of how many records it holds, and where not all get the same.
func alsoField(a card.AlsoSet, of int) Field {
	f := FieldOf(a.Change)
	if a.To == nil {
		f.Delta = "to different values"
	}
	if of > 1 {
		f.Delta = strings.TrimSpace(fmt.Sprintf("%s in %d of %d records", f.Delta, a.Records, of))
	}
	return f
}

// elseNames lists what was seen to change beside the change; empty for nothing.
func elseNames(r *card.Rehearsal) string {
	if !seen(r) {
		return ""
	}
	var names []string
	for _, e := range r.SideEffects {
		names = append(names, e.Table+" ("+effectWords(e)+")")
	}
	for _, a := range r.AlsoSets {
		names = append(names, a.Label)
	}
	return strings.Join(names, ", ")
}
