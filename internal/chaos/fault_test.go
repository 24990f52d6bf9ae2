//go:build failpoints

package chaos

import (
	"context"
	"time"
)

// faults are what can happen at a point, each with what is told to the server whose point it is.
var faults = map[string]string{"error": "error", "panic": "panic", "kill": "kill", "gone": "gone", "terminate": "park", "restart": "park"}

// strike has a fault happen at a point of a server while something is done there, and waits until all answer
// again. It tells what was answered, and whether the point was passed at all.
func (w *world) strike(n *node, point, fault string, act func(context.Context) reply) (answer reply, hit bool) {
	w.t.Helper()
	life := n.now()
	n.tell("arm %s %s", point, faults[fault])
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	answered := make(chan reply, 1)
	go func() { answered <- act(ctx) }()
	select {
	case <-life.hits:
		hit = true
		w.happen(n, fault, cancel)
		answer = <-answered
	case answer = <-answered:
		hit = life.soon()
		if hit {
			w.happen(n, fault, func() {})
		}
	}
	n.tell("off")
	for _, one := range w.nodes {
		one.answering()
	}
	return answer, hit
}

// soon: the point is passed by somebody else, who works in the background.
func (r *running) soon() bool {
	select {
	case <-r.hits:
		return true
	case <-time.After(3 * time.Second):
		return false
	}
}

// happen does what the server cannot do to itself.
func (w *world) happen(n *node, fault string, leave func()) {
	w.t.Helper()
	tally.faults.Add(1)
	switch fault {
	case "gone":
		leave()
	case "terminate":
		w.terminate()
		n.tell("go")
	case "restart":
		if err := theCluster.restart(); err != nil {
			w.t.Fatal(err)
		}
		n.tell("go")
	}
}
