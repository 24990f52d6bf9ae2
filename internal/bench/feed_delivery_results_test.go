package bench_test

import (
	"fmt"
	"os"
	"text/tabwriter"
)

const (
	deliveryTarget = 0.3 // of the peer's 99th
	memoryTarget   = 12  // KiB a follower
)

func (s *stage) printDelivery(n int, all []*audience, missing string) {
	out := os.Stdout
	_, _ = fmt.Fprintf(out, "\n\nFrom the commit of a proposal until %d followers of its workspace are told, each with a token of their own, rights looked at for each event; and memory.\n%s\n"+
		"%d events one at a time, in turns with the peer, heard by the same process. Ours counts from before the commit, in the transaction, and the peer's from before its post.\n"+
		"Memory is what is resident, with garbage and stacks; what the kernel keeps for a socket is not in it. CPU is of one delivery.\n\n", n, s.headline(), delivered)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tmedian ms\t99th ms\tlast ms\tKiB each at rest\tafter events\tCPU µs: server\tdatabase\tfollowers\t")
	each := func(bytes int64) float64 { return float64(bytes) / 1024 / float64(n) }
	for _, a := range all {
		deliveries := float64(n * delivered)
		_, _ = fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", a.name, a.medians, a.slow, a.lasts, each(a.full-a.empty), each(a.after-a.empty),
			float64(a.cpu.Microseconds())/deliveries, float64(a.database.Microseconds())/deliveries, float64(a.crowd.Microseconds())/deliveries)
	}
	if len(all) == 2 {
		a, b := all[0], all[1]
		_, _ = fmt.Fprintf(table, "ratio\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\t\t\n", a.medians/b.medians, a.slow/b.slow, a.lasts/b.lasts,
			float64(a.full-a.empty)/float64(b.full-b.empty), float64(a.after-a.empty)/float64(b.after-b.empty), float64(a.cpu)/float64(b.cpu))
	}
	_, _ = fmt.Fprintf(table, "target\t\tP6 ≤ %.1f\t\tP7 ≤ %d\tP7 ≤ %d\t\t\t\t\n", deliveryTarget, memoryTarget, memoryTarget)
	_ = table.Flush()
	_, _ = fmt.Fprintf(out, "\nOf Countersign's, %.1f KiB each live on the heap and %.1f are stacks.\n", each(all[0].used[0]), each(all[0].used[1]))
	if missing != "" {
		_, _ = fmt.Fprintf(out, "%s: there is no peer beside it.\n", missing)
	}
}
