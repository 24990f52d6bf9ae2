package bench_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// rehearsalTarget is how many times the write's own time a rehearsal may add to a propose.
const rehearsalTarget = 1.5

// BenchmarkRehearsal proposes without and with a rehearsal, and makes the write of a confirm alone, in a
// transaction that commits, one after the other. It prints what the rehearsal adds, as so many times that write.
// Of each the quickest are compared: what others do on the machine makes the rest of them longer.
func BenchmarkRehearsal(b *testing.B) {
	m := newMill(b, 2)
	_, confirms := m.record()
	writing, all := confirms.writing(b), m.visitors
	m.visitors = all[:1]
	defer m.serve(true)()
	m.visitors = all[1:]
	defer m.serveRehearsing(true, "true")()
	m.visitors = all
	m.exec(`ANALYZE`)
	var took [3][]float64
	for range repeats {
		proposed, written := m.toPropose(httpRoles, requests, 2), m.toPropose(bareRoles, requests/2, 1)
		propose, write := m.http().propose(proposed), m.bare(newLoop(b, m.db.OwnerURL), nil, writing).confirm(written)
		for i := range written {
			for kind, job := range []func() error{
				func() error { return propose(b.Context(), 2*i) }, func() error { return propose(b.Context(), 2*i+1) }, func() error { return write(b.Context(), i) },
			} {
				began := time.Now()
				if err := job(); err != nil {
					b.Fatal(err)
				}
				took[kind] = append(took[kind], float64(time.Since(began).Microseconds()))
			}
		}
	}
	fmt.Printf("\n\nA propose through GraphQL over HTTP without and with a rehearsal, and the write of a confirm alone: µs of one.\nLoad %s; %d of each in turns. What it adds is so many writes; the target is P10 ≤ %.1f.\n\n", load(), len(took[0]), rehearsalTarget)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(table, "\twithout\twith\twrite\tadds\t\n")
	for _, percent := range []int{5, 25, 50} {
		one := func(kind int) float64 { return slices.Sorted(slices.Values(took[kind]))[len(took[kind])*percent/100] }
		_, _ = fmt.Fprintf(table, "%d %% are quicker than\t%.0f\t%.0f\t%.0f\t%.2f\t\n", percent, one(0), one(1), one(2), (one(1)-one(0))/one(2))
	}
	_ = table.Flush()
	b.ReportMetric(0, "ns/op")
}

// writing is the round trip of a confirm that writes the host's record, in a transaction of its own.
func (s *script) writing(t testing.TB) *script {
	t.Helper()
	for _, one := range s.trips {
		if slices.ContainsFunc(one.sent, func(s statement) bool { return strings.HasPrefix(s.sql, `UPDATE "core"."roles"`) }) {
			sent := slices.Concat([]statement{{sql: "BEGIN"}}, one.sent, []statement{{sql: "COMMIT"}})
			return &script{trips: []trip{{login: one.login, sent: sent}}, about: s.about}
		}
	}
	t.Fatal("a confirm writes no role")
	return nil
}
