package feed

import (
	"testing"
	"time"
)

func TestALongQueueIsSaidOnce(t *testing.T) {
	begun := time.Now()
	b := &backlog{empty: begun}
	for _, c := range []struct {
		after time.Duration
		empty bool
		late  time.Duration
		over  bool
	}{
		{20 * time.Second, false, 0, false},
		{25 * time.Second, true, 0, false},
		{54 * time.Second, false, 0, false},
		{56 * time.Second, false, 31 * time.Second, false},
		{90 * time.Second, false, 0, false},
		{91 * time.Second, true, 0, true},
		{92 * time.Second, true, 0, false},
		{121 * time.Second, false, 0, false},
		{122 * time.Second, false, 30 * time.Second, false},
	} {
		if late, over := b.look(begun.Add(c.after), c.empty); late != c.late || over != c.over {
			t.Errorf("after %v: %v, %v", c.after, late, over)
		}
	}
}
