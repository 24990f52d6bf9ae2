//go:build failpoints

package chaos

import (
	"context"
	"sync"
	"testing"
)

// All of a pool's connections are taken by those who are held up in a decision, or in proposing: who comes then is
// told so in time, and nothing is changed; and all goes on when they do.
func TestAFullPool(t *testing.T) {
	w := newWorld(t, 1)
	n := w.nodes[0]
	points := []string{"confirm/locked", "confirm/committing", "propose/drafted", "propose/committing"}
	if !thorough() {
		points = points[:1] // each lasts as long as somebody waits for a connection
	}
	for _, point := range points {
		act := func() func(context.Context) reply {
			if point[:7] == "propose" {
				return w.proposing(n, w.maria, newValue())
			}
			p, _ := w.order(n)
			return w.decision(n, w.maria, "confirm", p)
		}
		late, life := act(), n.now()
		acts := []func(context.Context) reply{}
		for range poolSize {
			acts = append(acts, act())
		}
		n.tell("arm %s hold", point)
		var all sync.WaitGroup
		for _, one := range acts {
			all.Go(func() { one(t.Context()) })
		}
		for range poolSize {
			<-life.hits
		}
		tally.faults.Add(1)
		if r := late(t.Context()); !r.undone() && r.code != "UNAVAILABLE" {
			t.Errorf("%s: with the pool full it is answered %+v", point, r)
		}
		n.tell("go")
		all.Wait()
		for _, one := range append(acts, late) {
			if r := w.again(one); r.status != "APPLIED" && r.status != "PENDING" {
				t.Errorf("%s: asked again, it is answered %+v", point, r)
			}
		}
		w.invariants(point)
	}
	w.settle()
}

// The environment arms a point too: so a program that nobody can tell anything ends at it.
func TestTheEnvironmentArmsAPoint(t *testing.T) {
	w := newWorld(t, 0)
	n := w.node("COUNTERSIGN_FAILPOINTS=confirm/committed=kill")
	w.nodes = append(w.nodes, n)
	p, value := w.order(n)
	if r := w.decision(n, w.maria, "confirm", p)(t.Context()); r.lost == nil {
		t.Errorf("a killed server answered %+v", r)
	}
	<-n.now().gone
	if now := w.status(value); now != "applied" {
		t.Errorf("killed after its commit, it is %s", now)
	}
	n.environment = n.environment[:len(n.environment)-1]
	if r := w.again(func(ctx context.Context) reply { n.answering(); return w.decision(n, w.maria, "confirm", p)(ctx) }); r.status != "APPLIED" {
		t.Errorf("asked again, it is answered %+v", r)
	}
	w.invariants("killed by the environment")
}
