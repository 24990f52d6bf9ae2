package bench_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/identity"
)

// How many follow where few do, and where many do.
const fewFollowers = 100

var manyFollowers = many()

// many is 5000, or as many as COUNTERSIGN_BENCH_FOLLOWERS says, but no more than a process may have
// connections to two servers.
func many() int {
	n, err := strconv.Atoi(os.Getenv("COUNTERSIGN_BENCH_FOLLOWERS"))
	if err != nil {
		n = 5000
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Max < 1<<20 {
		n = min(n, (int(limit.Max)-500)/2)
	}
	return max(n, fewFollowers+1)
}

// followed is what everyone asks for.
const followed = `subscription { proposalEvents { cursor type at proposalId status proposal { id number status headline } } }`

// BenchmarkFeed measures the feed on a server of its own, with everyone who follows it in another process.
// Each of its parts can be run alone: feed/beside, feed/delivery, feed/replay.
func BenchmarkFeed(b *testing.B) {
	if _, err := newPoll(); err != nil {
		b.Skip(err)
	}
	s := &stage{mill: newMill(b, feedVisitors)}
	s.followers(manyFollowers)
	s.exec(`ANALYZE`)
	b.Run("beside", s.beside)
	b.Run("delivery", s.delivery)
	b.Run("replay", s.replay)
}

// stage is a mill that is followed: by people who are each somebody else, and who may see all that happens.
type stage struct {
	*mill
	hellos []string

	served, crowd *process
	address       string
}

const feedVisitors = 8

// followers makes people who may follow, with a token for each.
func (s *stage) followers(n int) {
	s.t.Helper()
	s.exec(`WITH made AS (INSERT INTO users (id, email, name) SELECT gen_random_uuid(), 'follower' || i || '@bench.example', 'Follower ' || i FROM generate_series(0, $1 - 1) i RETURNING id)
		INSERT INTO memberships (user_id, workspace_id, role) SELECT id, $2, 'auditor' FROM made`, n, s.workspace())
	s.hellos = make([]string, n)
	var making sync.WaitGroup
	for part := range 4 {
		making.Go(func() {
			for i := part; i < n; i += 4 {
				s.hellos[i] = fmt.Sprintf(`{"authorization":"Bearer %s"}`, s.token(i))
			}
		})
	}
	making.Wait()
}

func (s *stage) token(i int) string {
	token, err := identity.CreateToken(s.t.Context(), s.db.Owner, identity.NewToken{Email: fmt.Sprintf("follower%d@bench.example", i), Name: "bench", Scopes: []string{"read", "subscribe"}})
	if err != nil {
		s.t.Errorf("make a token: %v", err)
	}
	return token
}

// see makes everyone who follows see all that happens, or nothing of it; but for the first, who always does.
func (s *stage) see(all bool) {
	s.exec(`UPDATE memberships SET role = CASE WHEN $1 THEN 'auditor' ELSE 'member' END::role
		WHERE user_id IN (SELECT id FROM users WHERE email LIKE '%@bench.example' AND email <> 'follower0@bench.example')`, all)
}

// begin starts a server and a crowd for one part, and warms both up.
func (s *stage) begin(b *testing.B) *route {
	b.Helper()
	s.t = b
	s.served, s.crowd = enact(b, "server", s.db.OwnerURL), enact(b, "crowd", "")
	s.served.call("Serving.Address", 0, &s.address)
	for _, v := range s.visitors {
		v.connect(b, s.address)
	}
	r := s.http()
	r.run(s.mill, feedVisitors)
	return r
}

// follow connects a band for each hello.
func (s *stage) follow(address, document string, kept int, hellos []string) (number int) {
	s.t.Helper()
	s.crowd.call("Crowd.Join", Band{Address: address, Hellos: hellos, Document: document, Kept: kept}, &number)
	return number
}

// told waits until each of a band was told of so many events, and gives when the last was.
func (s *stage) told(number, events int) (last int64) {
	s.t.Helper()
	s.crowd.call("Crowd.Told", Await{number, events}, &last)
	return last
}

func (s *stage) leave(number int) {
	s.t.Helper()
	s.crowd.call("Crowd.Leave", number, new(int))
}

func (s *stage) events() int { return int(s.number(`SELECT count(*) FROM events`)) }

func (s *stage) headline() string {
	var version, fsync string
	if err := s.db.Owner.QueryRow(s.t.Context(), `SELECT current_setting('server_version'), current_setting('fsync')`).Scan(&version, &fsync); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("PostgreSQL %s, fsync %s, GOMAXPROCS %d, load %s.", version, fsync, runtime.GOMAXPROCS(0), load())
}

// quantile is the value that so many of all are at or below.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
