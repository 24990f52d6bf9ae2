package bench_test

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// results are all samples, in the order they were taken in.
type results struct {
	proposes, confirms *script
	samples            map[string][]sample
}

func cell(verb string, connections int, route string) string {
	return fmt.Sprintf("%s %d %s", verb, connections, route)
}

func (r *results) add(verb string, connections int, route string, s sample) {
	c := cell(verb, connections, route)
	r.samples[c] = append(r.samples[c], s)
}

func (r *results) print(b *testing.B, m *mill) {
	b.Helper()
	var version, fsync string
	if err := m.db.Owner.QueryRow(b.Context(), `SELECT current_setting('server_version'), current_setting('fsync')`).Scan(&version, &fsync); err != nil {
		b.Fatal(err)
	}
	out := os.Stdout
	_, _ = fmt.Fprintf(out, "\n\nPropose and confirm through GraphQL over HTTP, signed in by bearer, beside the same SQL from a bare pgx loop.\n"+
		"PostgreSQL %s, fsync %s (off: nothing waits for a disk, so all of it is CPU), GOMAXPROCS %d, load %s.\n"+
		"Each cell %d times in turns, up to %d requests on as many records or %s; medians; a ratio is of neighbouring runs.\n"+
		"Where others use the machine, the CPU of a request says more than the time; that of Go includes what sends.\n\n",
		version, fsync, runtime.GOMAXPROCS(0), load(), repeats, requests, most)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tconnections\tHTTP /s\tbare /s\tratio\tleast\tmost\ttarget\tCPU µs HTTP: Go\tdatabase\tbare: Go\tdatabase\tratio of CPU\t")
	for _, verb := range []string{"propose", "confirm"} {
		for _, n := range connections {
			_, _ = fmt.Fprintln(table, r.line(verb, n))
		}
	}
	_ = table.Flush()
	r.proposes.print(out, "propose")
	r.confirms.print(out, "confirm")
}

// load is how busy the machine was in the last minute; empty where that is not to be seen.
func load() string {
	average, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(average), " ")
	return first
}

func (s *script) print(out io.Writer, verb string) {
	statements := 0
	for _, t := range s.trips {
		statements += len(t.sent)
	}
	_, _ = fmt.Fprintf(out, "\nA %s sends %d statements in %d round trips, of which the first finds out who asks:\n  %s\n", verb, statements, len(s.trips), strings.Join(s.lines(), "\n  "))
}

func (r *results) line(verb string, n int) string {
	http, bare := r.samples[cell(verb, n, "HTTP")], r.samples[cell(verb, n, "bare")]
	rate := func(s sample) float64 { return float64(s.done) / s.took.Seconds() }
	var ratios []float64
	for i := range http {
		ratios = append(ratios, rate(http[i])/rate(bare[i]))
	}
	goal := map[string]string{"propose": "P2", "confirm": "P1"}[verb] + fmt.Sprintf(" ≥ %.1f", target)
	if n == 1 {
		goal = ""
	}
	perRequest := func(of func(sample) time.Duration) func(sample) float64 {
		return func(s sample) float64 { return float64(of(s).Microseconds()) / float64(s.done) }
	}
	own, database := perRequest(func(s sample) time.Duration { return s.cpu }), perRequest(func(s sample) time.Duration { return s.database })
	all := func(s sample) float64 { return own(s) + database(s) }
	return fmt.Sprintf("%s\t%d\t%.0f\t%.0f\t%.2f\t%.2f\t%.2f\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.2f\t", verb, n, median(http, rate), median(bare, rate),
		middle(ratios), slices.Min(ratios), slices.Max(ratios), goal, median(http, own), median(http, database), median(bare, own), median(bare, database), median(bare, all)/median(http, all))
}

func median(samples []sample, of func(sample) float64) float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, of(s))
	}
	return middle(values)
}

func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
