//go:build failpoints

package chaos

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// state is what one proposal has come to, and who did what to it: who did the same before is answered the same.
type state struct{ status, confirmed, approved, disapproved, rejected, withdrew string }

// deed is something that was asked for.
type deed struct {
	verb, who string
	approval  bool // the proposal needs one
}

// outcome is what a deed may come to.
type outcome struct {
	state  state
	answer string
}

// next is all that a deed may come to: the sentences of the design, without its locks.
func next(s state, d deed) []outcome {
	now := func(answer string) []outcome { return []outcome{{s, answer + " " + s.status}} }
	to := func(status string, changed state) outcome {
		changed.status = status
		return outcome{changed, "stands " + status}
	}
	open := s.status == "PENDING" || s.status == "AWAITING_APPROVAL"
	mine := map[string]string{"confirm": s.confirmed, "approve": s.approved, "disapprove": s.disapproved, "reject": s.rejected, "withdraw": s.withdrew}[d.verb]
	changed := s
	switch {
	case d.verb == "show":
		return now("is")
	case d.verb == "lapse" && open:
		changed.status = "EXPIRED"
		return []outcome{{changed, "lapsed"}}
	case d.verb == "lapse" && s.status == "EXPIRED": // it may not be stored as such yet
		return []outcome{{s, "lapsed"}, {s, "not lapsed"}}
	case d.verb == "lapse":
		return []outcome{{s, "not lapsed"}}
	case d.verb == "cut" && open:
		return []outcome{{s, ""}, to("WITHDRAWN", changed)}
	case d.verb == "cut":
		return []outcome{{s, ""}}
	case mine == d.who:
		return now("stands")
	case (d.verb == "approve" || d.verb == "disapprove") && s.status == "PENDING":
		return []outcome{{s, "forbidden"}}
	case d.verb == "approve" && open:
		changed.approved = d.who
		return []outcome{to("APPLIED", changed), to("FAILED", changed)}
	case d.verb == "disapprove" && open:
		changed.disapproved = d.who
		return []outcome{to("DISAPPROVED", changed)}
	case d.verb == "withdraw" && open:
		changed.withdrew = d.who
		return []outcome{to("WITHDRAWN", changed)}
	case d.verb == "revise" && s.status == "PENDING":
		changed.status = "SUPERSEDED"
		return []outcome{{changed, "revised"}, {s, "refused"}}
	case d.verb == "revise":
		return []outcome{{s, "too late"}}
	case s.status != "PENDING":
		return now("decided")
	case d.verb == "confirm":
		changed.confirmed = d.who
		if d.approval {
			return []outcome{to("AWAITING_APPROVAL", changed)}
		}
		return []outcome{to("APPLIED", changed), to("FAILED", changed)}
	case d.verb == "reject":
		changed.rejected = d.who
		return []outcome{to("REJECTED", changed)}
	case d.verb == "extend":
		return now("stands")
	}
	panic("no such verb: " + d.verb)
}

const (
	unknown = "unknown" // it may have been done, at any time since
	undone  = "undone"  // it was said that nothing was changed
)

// saw puts a reply in the model's words.
func saw(verb string, r reply) string {
	switch {
	case r.undone():
		return undone
	case !r.answered():
		return unknown
	case r.code == "FORBIDDEN":
		return "forbidden"
	case r.code != "":
		return r.code
	case verb == "show":
		return "is " + r.status
	case verb == "revise" && r.refusal == "ALREADY_DECIDED":
		return "too late"
	case r.refusal != "":
		return "refused"
	case verb == "revise":
		return "revised"
	case r.typename == "AlreadyDecided":
		return "decided " + r.status
	case r.typename == "Proposal":
		return "stands " + r.status
	}
	return r.typename
}

var model = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{state{status: "PENDING"}} },
	Step: func(from, in, out any) (to []any) {
		s, d, answer := from.(state), in.(deed), out.(string)
		if answer == unknown || answer == undone {
			to = append(to, s)
		}
		for _, one := range next(s, d) {
			if answer != undone && (answer == unknown || answer == one.answer) {
				to = append(to, one.state)
			}
		}
		return to
	},
}).ToModel()

// history is what was asked for and answered, by proposal.
type history struct {
	lock  sync.Mutex
	began time.Time
	of    map[string][]porcupine.Operation
}

func (h *history) now() int64 { return time.Since(h.began).Nanoseconds() }

func (h *history) add(id string, d deed, called int64, answer string) {
	one := porcupine.Operation{Input: d, Call: called, Output: answer, Return: h.now()}
	if answer == unknown {
		one.Return = math.MaxInt64
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	h.of[id] = append(h.of[id], one)
}

// check holds each proposal's history against the model.
func (h *history) check(t testing.TB) (deeds, violations int) {
	t.Helper()
	for id, list := range h.of {
		deeds += len(list)
		if found := porcupine.CheckOperationsTimeout(model, list, time.Minute); found != porcupine.Ok {
			violations++
			t.Errorf("%s: the history is %s\n%s", id, found, told(list))
		}
	}
	return deeds, violations
}

func told(list []porcupine.Operation) (text string) {
	for _, one := range list {
		d, until := one.Input.(deed), fmt.Sprintf("%9.3f", float64(one.Return)/1e6)
		if one.Return == math.MaxInt64 {
			until = "        ∞"
		}
		text += fmt.Sprintf("%9.3f %s ms  %-10s %-6s %s\n", float64(one.Call)/1e6, until, d.verb, d.who, one.Output)
	}
	return text
}

// The model itself: histories that may be, and that may not.
func TestTheModelTellsHistoriesApart(t *testing.T) {
	op := func(call, end int64, verb, who, answer string) porcupine.Operation {
		return porcupine.Operation{Input: deed{verb: verb, who: who}, Call: call, Return: end, Output: answer}
	}
	for name, c := range map[string]struct {
		list []porcupine.Operation
		may  bool
	}{
		"confirmed, and again":             {[]porcupine.Operation{op(1, 2, "confirm", "maria", "stands APPLIED"), op(3, 4, "confirm", "maria", "stands APPLIED")}, true},
		"confirmed and rejected":           {[]porcupine.Operation{op(1, 2, "confirm", "maria", "stands APPLIED"), op(3, 4, "reject", "maria", "stands REJECTED")}, false},
		"two answers to one confirm":       {[]porcupine.Operation{op(1, 2, "confirm", "maria", "stands APPLIED"), op(3, 4, "confirm", "maria", "stands FAILED")}, false},
		"lost, and it was done":            {[]porcupine.Operation{op(1, math.MaxInt64, "confirm", "maria", unknown), op(3, 4, "reject", "maria", "decided APPLIED")}, true},
		"lost, and it was not done":        {[]porcupine.Operation{op(1, math.MaxInt64, "confirm", "maria", unknown), op(3, 4, "reject", "maria", "stands REJECTED")}, true},
		"said to be undone, and was done":  {[]porcupine.Operation{op(1, 2, "confirm", "maria", undone), op(3, 4, "show", "maria", "is APPLIED")}, false},
		"pending again":                    {[]porcupine.Operation{op(1, 2, "show", "maria", "is APPLIED"), op(3, 4, "show", "maria", "is PENDING")}, false},
		"both at once, one of them is it":  {[]porcupine.Operation{op(1, 9, "confirm", "maria", "stands APPLIED"), op(2, 8, "reject", "maria", "decided APPLIED")}, true},
		"both at once, both of them are":   {[]porcupine.Operation{op(1, 9, "confirm", "maria", "stands APPLIED"), op(2, 8, "reject", "maria", "stands REJECTED")}, false},
		"shown open after it was answered": {[]porcupine.Operation{op(1, 2, "reject", "maria", "stands REJECTED"), op(3, 4, "show", "paolo", "is PENDING")}, false},
	} {
		if got := porcupine.CheckOperations(model, c.list); got != c.may {
			t.Errorf("%s: %v", name, got)
		}
	}
}
