//go:build failpoints

package chaos

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// known is a proposal that somebody has seen.
type known struct {
	reply
	value    string
	owner    string // who may withdraw and extend it; a token, where it is an agent's
	by       string // whose it is
	approval bool
	turn     bool // the turn that made it was running, and may be cut short
}

// crowd is people and assistants at work, each at random.
type crowd struct {
	w       *world
	history *history
	people  map[string]string // credentials
	ends    context.Context
	all     sync.WaitGroup

	lock    sync.Mutex
	recent  []known
	pending map[*node]map[int]context.CancelFunc // requests under way
	number  int
}

// think is the longest that somebody waits between two deeds.
const think = 60 * time.Millisecond

// remembered is how many proposals are decided on at a time: few, so that many meet at each.
const remembered = 12

// work has n people and assistants work until stop is called.
func (w *world) crowd(n int, seed uint64) (c *crowd, stop func()) {
	ends, cancel := context.WithCancel(w.t.Context())
	c = &crowd{w: w, ends: ends, history: &history{began: time.Now(), of: map[string][]porcupine.Operation{}}, pending: map[*node]map[int]context.CancelFunc{},
		people: map[string]string{"maria": w.maria, "paolo": w.paolo, "jonas": w.jonas, "aiko": w.aiko, "rosa": w.rosa, "agent": w.agent}}
	for i := range n {
		one := &one{c, rand.New(rand.NewPCG(seed, uint64(i)))}
		c.all.Go(func() {
			for ends.Err() == nil {
				one.act()
				time.Sleep(time.Duration(one.rand.IntN(int(think)))) // so that there is time for what fails
			}
		})
	}
	return c, func() { cancel(); c.all.Wait() }
}

// one is somebody of the crowd.
type one struct {
	*crowd
	rand *rand.Rand
}

func (o *one) act() {
	switch n := o.rand.IntN(100); {
	case n < 22:
		o.propose()
	case n < 27:
		o.say()
	case n < 30:
		o.lapse()
	case n < 33:
		o.peek()
	default:
		if p, ok := o.pick(); ok {
			o.decide(p)
		}
	}
}

func (o *one) pick() (known, bool) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if len(o.recent) == 0 {
		return known{}, false
	}
	return o.recent[o.rand.IntN(len(o.recent))], true
}

func (c *crowd) know(p known) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.recent = append(c.recent, p)
	if len(c.recent) > remembered {
		c.recent = c.recent[1:]
	}
}

// ask asks one of the servers, so that the request can be broken off.
func (o *one) ask(do func(context.Context, *node) reply) reply {
	n := o.w.nodes[o.rand.IntN(len(o.w.nodes))]
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ends), 30*time.Second)
	defer cancel()
	o.lock.Lock()
	o.number++
	mine := o.number
	if o.pending[n] == nil {
		o.pending[n] = map[int]context.CancelFunc{}
	}
	o.pending[n][mine] = cancel
	o.lock.Unlock()
	r := do(ctx, n)
	o.lock.Lock()
	delete(o.pending[n], mine)
	o.lock.Unlock()
	if r.lost != nil {
		time.Sleep(5 * time.Millisecond) // it may be starting
	}
	return r
}

// leave breaks off all requests at a server.
func (c *crowd) leave(n *node) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, cancel := range c.pending[n] {
		cancel()
	}
}

var changes = map[bool]struct{ entity, field string }{false: {"mrp.production_order", "notes"}, true: {"core.role", "description"}}

func (o *one) propose() {
	who, approval := []string{"maria", "paolo", "agent", "agent"}[o.rand.IntN(4)], o.rand.IntN(2) == 0
	value, record := newValue(), strconv.Itoa(1001+o.rand.IntN(perWorld))
	in := vars{"entity": changes[approval].entity, "operation": "UPDATE", "recordId": record, "changes": vars{changes[approval].field: value}}
	for range 4 { // what was not answered is asked for again, or not
		r := o.ask(func(ctx context.Context, n *node) reply { return (&client{n, o.people[who]}).do(ctx, "propose", in) })
		if r.typename == "Proposal" && r.status == "PENDING" {
			o.know(known{reply: r, value: value, owner: who, by: map[bool]string{true: "maria", false: who}[who == "agent"], approval: approval})
		}
		if r.answered() || o.rand.IntN(4) == 0 {
			return
		}
	}
}

func (o *one) say() {
	who, value := []string{"maria", "paolo"}[o.rand.IntN(2)], newValue()
	message := "set notes of PO-" + strconv.Itoa(5001+o.rand.IntN(perWorld)) + " to " + value
	r := o.ask(func(ctx context.Context, n *node) reply { return (&client{n, o.people[who]}).say(ctx, message) })
	if r.typename == "Proposal" && r.status == "PENDING" {
		o.know(known{reply: r, value: value, owner: who, by: who})
	}
}

// peek finds what a turn has proposed that still runs.
func (o *one) peek() {
	p, ok := o.w.unfinished(o.ends)
	if !ok {
		return
	}
	o.history.add(p.id, deed{verb: "cut"}, 0, unknown)
	o.know(p)
}

func (o *one) lapse() {
	p, ok := o.pick()
	if !ok || p.turn {
		return
	}
	called := o.history.now()
	rows, err := o.w.lapsing(o.ends, p.value)
	answer := map[bool]string{true: "lapsed", false: "not lapsed"}[rows > 0]
	if err != nil {
		answer = unknown
	}
	o.history.add(p.id, deed{verb: "lapse"}, called, answer)
}

// decide does something to a proposal that is somebody's to do.
func (o *one) decide(p known) {
	verb, who := o.deed(p)
	next := newValue()
	for range 5 {
		called := o.history.now()
		r := o.ask(func(ctx context.Context, n *node) reply {
			c := &client{n, o.people[who]}
			switch verb {
			case "show":
				return c.show(ctx, p.id)
			case "revise":
				return c.do(ctx, "revise", vars{"id": p.id, "fingerprint": p.print, "changes": vars{changes[p.approval].field: next}})
			}
			return c.decide(ctx, verb, p.reply)
		})
		o.history.add(p.id, deed{verb: verb, who: who, approval: p.approval}, called, saw(verb, r))
		if verb == "revise" && r.typename == "Proposal" {
			o.know(known{reply: r, value: next, owner: who, by: who, approval: p.approval})
		}
		if r.answered() || o.rand.IntN(5) == 0 {
			return
		}
	}
}

func (o *one) deed(p known) (verb, who string) {
	verb = []string{"confirm", "confirm", "confirm", "approve", "approve", "disapprove", "reject", "withdraw", "extend", "revise", "show", "show"}[o.rand.IntN(12)]
	anybody := []string{"maria", "paolo", "jonas", "aiko", "rosa"}[o.rand.IntN(5)]
	approver := []string{"jonas", "aiko"}[o.rand.IntN(2)]
	switch {
	case verb == "approve" || verb == "disapprove":
		if !p.approval {
			return "confirm", anybody
		}
		return verb, approver
	case verb == "withdraw":
		return verb, p.owner
	case verb == "extend" || p.approval && verb != "show":
		return verb, p.by
	case verb == "show" && p.approval:
		return verb, p.by
	}
	return verb, anybody
}
