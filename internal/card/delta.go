package card

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Delta says how far a number, a date or a time moves: "+20 (+20 %)", "2 days later". It is empty where
// that means nothing.
func Delta(c Change) string {
	if c.From == nil || c.To == nil || c.From.Null || c.To.Null || c.From.Masked || c.To.Masked {
		return ""
	}
	from, to := text(c.From.JSON), text(c.To.JSON)
	switch c.Type {
	case Integer, Decimal:
		return numberDelta(from, to)
	case Date:
		return timeDelta(from, to, time.DateOnly)
	case Timestamp:
		return timeDelta(from, to, time.RFC3339Nano)
	}
	return ""
}

func numberDelta(from, to string) string {
	a, okA := new(big.Rat).SetString(from)
	b, okB := new(big.Rat).SetString(to)
	if !okA || !okB || a.Cmp(b) == 0 {
		return ""
	}
	d := new(big.Rat).Sub(b, a)
	s := signed(d, max(decimals(from), decimals(to)))
	if a.Sign() == 0 {
		return s
	}
	percent := new(big.Rat).Quo(new(big.Rat).Mul(d, big.NewRat(100, 1)), new(big.Rat).Abs(a))
	return fmt.Sprintf("%s (%s %%)", s, strings.TrimSuffix(signed(percent, 1), ".0"))
}

func signed(r *big.Rat, digits int) string {
	s := r.FloatString(digits)
	if r.Sign() > 0 {
		return "+" + s
	}
	return strings.Replace(s, "-", "−", 1)
}

func decimals(s string) int {
	_, fraction, _ := strings.Cut(s, ".")
	return len(fraction)
}

func timeDelta(from, to, layout string) string {
	a, errA := time.Parse(layout, from)
	b, errB := time.Parse(layout, to)
	if errA != nil || errB != nil || a.Equal(b) {
		return ""
	}
	d, word := b.Sub(a), "later"
	if d < 0 {
		d, word = -d, "earlier"
	}
	if d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%s %s", count(int(d/(24*time.Hour)), "day"), word)
	}
	return fmt.Sprintf("%s %s", d.Round(time.Second), word)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
