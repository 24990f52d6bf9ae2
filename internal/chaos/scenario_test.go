//go:build failpoints

package chaos

import (
	"context"
	"regexp"
	"strconv"
)

// scenario is something that passes the points of a verb.
type scenario struct {
	value   string   // what is proposed
	also    []string // points that fail along with it, so that it comes to these
	act     func(context.Context) reply
	before  string // the statuses of the value's proposals before it is done, as an expression
	after   string // and after
	answers string // what it answers when it is done again; "" for anything
}

var scenarios = map[string]func(w *world, n *node, point string) scenario{
	"confirm": func(w *world, n *node, _ string) scenario {
		p, value := w.order(n)
		return scenario{value: value, act: w.decision(n, w.maria, "confirm", p), before: "pending", after: "applied", answers: "APPLIED"}
	},
	"approve": func(w *world, n *node, _ string) scenario {
		p, value := w.awaiting(n)
		return scenario{value: value, act: w.decision(n, w.jonas, "approve", p), before: "awaiting_approval", after: "applied", answers: "APPLIED"}
	},
	"disapprove": func(w *world, n *node, _ string) scenario {
		p, value := w.awaiting(n)
		return scenario{value: value, act: w.decision(n, w.jonas, "disapprove", p), before: "awaiting_approval", after: "disapproved", answers: "DISAPPROVED"}
	},
	"reject":   deciding("reject", "rejected", "REJECTED"),
	"withdraw": deciding("withdraw", "withdrawn", "WITHDRAWN"),
	"extend":   deciding("extend", "pending+", "PENDING"),
	"takeback": func(w *world, n *node, _ string) scenario {
		value := newValue()
		p := w.again(w.proposing(n, w.agent, value))
		return scenario{value: value, act: w.decision(n, w.agent, "withdraw", p), before: "pending", after: "withdrawn", answers: "WITHDRAWN"}
	},
	"revise": revising, "revisable": revising,
	"expire": func(w *world, n *node, _ string) scenario {
		p, value := w.order(n)
		w.lapse(value)
		return scenario{value: value, act: w.decision(n, w.maria, "reject", p), before: "pending", after: "expired", answers: "EXPIRED"}
	},
	"propose":  func(w *world, n *node, _ string) scenario { return w.made(n) },
	"rehearse": func(w *world, n *node, _ string) scenario { return w.made(n) },
	"feed": func(w *world, n *node, point string) scenario {
		s := w.made(n)
		if point == "feed/hearing" { // as if another server had said so
			act := s.act
			s.act = func(ctx context.Context) reply { w.sql(`SELECT pg_notify('countersign_feed', '0')`); return act(ctx) }
		}
		return s
	},
	"twin": func(w *world, n *node, _ string) scenario {
		value := newValue()
		act := w.proposing(n, w.maria, value)
		w.again(act)
		return scenario{value: value, act: act, before: "pending", after: "pending", answers: "PENDING"}
	},
	"call": func(w *world, n *node, point string) scenario {
		if point == "call/recording" || point == "call/recorded" {
			return w.made(n)
		}
		maria := &client{n, w.maria} // what is refused ends its row by itself
		return scenario{value: newValue(), act: func(ctx context.Context) reply {
			return maria.do(ctx, "propose", vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": "999999", "changes": vars{"notes": "x"}})
		}}
	},
	"turn": func(w *world, n *node, point string) scenario {
		s := w.said(n)
		if point == "turn/ending" || point == "turn/ended" {
			s.also = []string{"turn/answered"}
		}
		return s
	},
	"cutshort": func(w *world, n *node, _ string) scenario {
		s := w.said(n)
		s.also = []string{"turn/answered"}
		return s
	},
}

func init() {
	scenarios["cutmet"] = func(w *world, n *node, _ string) scenario {
		n.tell("arm turn/answered error") // the turn does not end well,
		n.tell("arm turn/ended error")    // and what it proposed is not withdrawn
		value := newValue()
		(&client{n, w.maria}).say(w.t.Context(), w.message(value))
		n.tell("off")
		p := w.again(func(ctx context.Context) reply { return (&client{n, w.maria}).show(ctx, w.id(value)) })
		return scenario{value: value, act: w.decision(n, w.maria, "confirm", p), before: "pending|withdrawn", after: "withdrawn", answers: "WITHDRAWN"}
	}
}

// deciding is what Maria does to an order's proposal of hers.
func deciding(verb, after, answers string) func(*world, *node, string) scenario {
	return func(w *world, n *node, _ string) scenario {
		p, value := w.order(n)
		return scenario{value: value, act: w.decision(n, w.maria, verb, p), before: "pending", after: quoted(after), answers: answers}
	}
}

func revising(w *world, n *node, _ string) scenario {
	p, value := w.order(n)
	maria, next := &client{n, w.maria}, newValue()
	return scenario{value: value, before: "pending", after: "superseded", act: func(ctx context.Context) reply {
		return maria.do(ctx, "revise", vars{"id": p.id, "fingerprint": p.print, "changes": vars{"notes": next}})
	}}
}

// made proposes.
func (w *world) made(n *node) scenario {
	value := newValue()
	return scenario{value: value, act: w.proposing(n, w.maria, value), before: "", after: "pending", answers: "PENDING"}
}

// said asks the assistant. A turn that broke off leaves what it proposed to be withdrawn; asked again meanwhile, it
// answers that, since the same is open.
func (w *world) said(n *node) scenario {
	value := newValue()
	maria, message := &client{n, w.maria}, w.message(value)
	return scenario{value: value, before: "(pending|withdrawn)?", after: "((pending|withdrawn) )*(pending|withdrawn)", act: func(ctx context.Context) reply { return maria.say(ctx, message) }}
}

func (w *world) message(value string) string {
	return "set notes of PO-" + strconv.Itoa(5000+w.record()-1000) + " to " + value
}

// record is the next record to be about.
func (w *world) record() int {
	w.records++
	return 1001 + w.records%perWorld
}

func (w *world) proposing(n *node, credential, value string) func(context.Context) reply {
	who, record := &client{n, credential}, strconv.Itoa(w.record())
	return func(ctx context.Context) reply {
		return who.do(ctx, "propose", vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": record, "changes": vars{"notes": value}})
	}
}

// order proposes a change of an order, which its confirm applies.
func (w *world) order(n *node) (p reply, value string) {
	w.t.Helper()
	value = newValue()
	return w.pending(w.again(w.proposing(n, w.maria, value))), value
}

// awaiting proposes a change of a role and confirms it, so that another has to approve it.
func (w *world) awaiting(n *node) (p reply, value string) {
	w.t.Helper()
	value = newValue()
	maria, record := &client{n, w.maria}, strconv.Itoa(w.record())
	p = w.pending(w.again(func(ctx context.Context) reply {
		return maria.do(ctx, "propose", vars{"entity": "core.role", "operation": "UPDATE", "recordId": record, "changes": vars{"description": value}})
	}))
	if confirmed := w.again(w.decision(n, w.maria, "confirm", p)); confirmed.status != "AWAITING_APPROVAL" {
		w.t.Fatalf("confirmed, it is %+v", confirmed)
	}
	return p, value
}

func (w *world) pending(p reply) reply {
	w.t.Helper()
	if p.status != "PENDING" {
		w.t.Fatalf("proposed, it is %+v", p)
	}
	return p
}

func (w *world) decision(n *node, credential, verb string, p reply) func(context.Context) reply {
	return func(ctx context.Context) reply { return (&client{n, credential}).decide(ctx, verb, p) }
}

var quoted = regexp.QuoteMeta

// is tells whether statuses are what an expression says.
func is(statuses, expression string) bool {
	return regexp.MustCompile("^(" + expression + ")$").MatchString(statuses)
}
