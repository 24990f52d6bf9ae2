package server_test

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// history is how many events there are to be replayed; make slow-feed asks for 100 000.
func history(t *testing.T) int {
	t.Helper()
	asked := os.Getenv("COUNTERSIGN_FEED_EVENTS")
	if asked == "" {
		return 5000
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Who has been away for long is told all of it, by whichever way, and then what happens now.
func TestALongHistoryIsReplayed(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	maria.rename("4", "first")
	w.sequenced()
	from, n := maria.feedCursor(), history(t)
	for left := n; left > 0; left -= 5000 {
		w.churn(min(left, 5000))
	}
	w.sequenced()
	seen := make([][]told, 2)
	var replaying sync.WaitGroup
	begun := time.Now()
	for i, follow := range []func(string) []told{maria.socketReturns, maria.streamReturns} {
		replaying.Go(func() { seen[i] = follow(from) })
	}
	w.churn(100) // while they catch up
	maria.rename("5", "last")
	replaying.Wait()
	t.Logf("%d events replayed over two transports in %v", n, time.Since(begun).Round(time.Millisecond))
	want, paged := w.cursorsAfter(from), []string{}
	begun = time.Now()
	for after, more := from, true; more; {
		p := maria.events(vars{"after": after, "first": 1000})
		for _, e := range p.Edges {
			paged = append(paged, e.Cursor)
		}
		after, more = p.Cursor, p.PageInfo.HasNextPage
	}
	t.Logf("and read in pages in %v", time.Since(begun).Round(time.Millisecond))
	if len(want) != n+101 || !slices.Equal(paged, want) || !slices.Equal(cursorsOf(seen[0]), want) || !slices.Equal(cursorsOf(seen[1]), want) {
		t.Errorf("of %d events there were %d told over a socket, %d as server-sent events, %d in pages", len(want), len(seen[0]), len(seen[1]), len(paged))
	}
}

// After a server's restart its clients come back all at once, each from where it was.
func TestManyComeBackAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	maria.rename("4", "first")
	w.sequenced()
	const clients, missed = 200, 1200 // which is more than the hub tells those who join it
	whole := maria.feedCursor()
	w.churn(missed)
	w.sequenced()
	all := w.cursorsAfter(whole)
	credentials := []*client{}
	for range clients / 100 {
		credentials = append(credentials, w.as(w.db.APIToken(t, "maria@harbor.example", "subscribe")))
	}
	var coming sync.WaitGroup
	begun, last := time.Now(), make([]told, clients)
	for i := range clients {
		coming.Go(func() {
			known, after := missed-i, whole // most have missed little, some everything
			if i%10 == 0 {
				known = 0
			} else {
				after = all[known-1]
			}
			s := credentials[i%len(credentials)].follows(vars{"after": after})
			if got := cursorsOf(s.events(missed - known)); !slices.Equal(got, all[known:]) {
				t.Errorf("client %d was told %d others", i, len(got))
			}
			last[i] = s.event()
		})
	}
	id, _ := maria.rename("5", "last")
	coming.Wait()
	t.Logf("%d clients were told what they missed in %v", clients, time.Since(begun).Round(time.Millisecond))
	for i, e := range last {
		if e.ProposalID != id {
			t.Errorf("client %d was then told of %+v", i, e)
		}
	}
}
