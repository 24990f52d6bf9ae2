package bench_test

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// besideTarget is of the rate with followers to the rate without.
const besideTarget = 0.9

func (s *stage) printBeside(visits map[string][]visit) {
	out := os.Stdout
	_, _ = fmt.Fprintf(out, "\n\nPropose and confirm with %d connections, while others follow the workspace over WebSockets, each with a token of their own.\n%s\n"+
		"Each cell %d times in turns, up to %d requests or %s; medians; a ratio is to nobody in the same round, target P8 ≥ %.1f.\n"+
		"CPU of a deed, in µs, with all that follows from it. Followers and visitors are processes on the same machine, and take of its CPU.\n"+
		"behind: from the last answer until the last follower was told of the last event.\n\n",
		feedVisitors, s.headline(), besideRounds, requests, most, besideTarget)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "followers\tpropose /s\tratio\tleast\tmost\tconfirm /s\tratio\tleast\tmost\tCPU: server\tdatabase\tfollowers\tbehind ms\t")
	for _, l := range levels {
		v := visits[l.name]
		rates := func(of func(visit) float64) string { return shares(v, visits[levels[0].name], of, false) }
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t\n", l.name,
			rates(func(v visit) float64 { return v.propose }), rates(func(v visit) float64 { return v.confirm }),
			mid(v, func(v visit) float64 { return v.server }), mid(v, func(v visit) float64 { return v.database }),
			mid(v, func(v visit) float64 { return v.crowd }), mid(v, func(v visit) float64 { return v.behind }))
	}
	_ = table.Flush()
	_, _ = fmt.Fprintf(out, "\nThe same, a deed every %s: how long one takes, in ms, and what that is to nobody (more than 1 is faster).\n\n", paceEvery)
	table = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "followers\tpropose\tratio\tleast\tmost\t9 of 10\tconfirm\tratio\tleast\tmost\t9 of 10\t")
	for _, l := range levels {
		if !l.pace {
			continue
		}
		v := visits[l.name]
		times := func(of func(visit) float64) string { return shares(v, visits[levels[0].name], of, true) }
		_, _ = fmt.Fprintf(table, "%s\t%s\t%.1f\t%s\t%.1f\t\n", l.name,
			times(func(v visit) float64 { return v.proposed }), mid(v, func(v visit) float64 { return v.proposedSlowest }),
			times(func(v visit) float64 { return v.confirmed }), mid(v, func(v visit) float64 { return v.confirmedSlow }))
	}
	_ = table.Flush()
}

// shares gives the median of a value, and the ratios to the value beside nobody, round by round: or, of
// times, the other way about.
func shares(v, nobody []visit, of func(visit) float64, times bool) string {
	var ratios []float64
	for i := range v {
		ratio := of(v[i]) / of(nobody[i])
		if times {
			ratio = 1 / ratio
		}
		ratios = append(ratios, ratio)
	}
	format := "%.0f"
	if times {
		format = "%.1f"
	}
	return fmt.Sprintf(format+"\t%.2f\t%.2f\t%.2f", mid(v, of), middle(ratios), slices.Min(ratios), slices.Max(ratios))
}

func mid(visits []visit, of func(visit) float64) float64 {
	var values []float64
	for _, v := range visits {
		values = append(values, of(v))
	}
	return middle(values)
}
