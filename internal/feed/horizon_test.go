package feed

import (
	"testing"
	"time"
)

func TestHorizon(t *testing.T) {
	now := time.Unix(0, 0)
	h := &horizon{whole: now}
	h.took(5, true)
	if h.empty != 0 {
		t.Fatal("one look is no proof: a lower seq may still be on its way")
	}
	h.look([]string{"a", "b"}) // they wrote when 5 was the highest
	h.took(9, true)
	if h.empty != 0 {
		t.Fatalf("a and b write, and the horizon is %d", h.empty)
	}
	h.look([]string{"b", "c"}) // a has ended
	h.took(12, true)
	if h.empty != 0 {
		t.Fatalf("b writes, and the horizon is %d", h.empty)
	}
	h.look([]string{"c"}) // so has b; c began later
	h.took(20, false)
	if h.empty != 0 {
		t.Fatalf("the queue was not read to its end, and the horizon is %d", h.empty)
	}
	h.took(30, true)
	if h.empty != 5 || h.from(now) != 5 {
		t.Fatalf("all up to 5 have ended, and the horizon is %d", h.empty)
	}
	h.look(nil) // c has ended, who wrote when 12 was the highest
	h.took(30, true)
	if h.empty != 12 {
		t.Fatalf("the horizon is %d, not 12", h.empty)
	}
	if later := now.Add(nowAndThen); h.from(later) != 0 || h.from(later) != 12 {
		t.Error("now and then the queue is read from its beginning, once")
	}
}

func TestItIsAskedWhoWritesOnlyWhereThatIsWorthIt(t *testing.T) {
	now := time.Unix(1000, 0)
	h := &horizon{top: walk - 1}
	if h.due(now) {
		t.Error("for a few rows")
	}
	h.top = walk
	if !h.due(now) || h.due(now.Add(everySo/2)) || !h.due(now.Add(everySo)) {
		t.Error("not every so often")
	}
}
