package views_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/views"
)

// marked writes runs down with what changed in brackets.
func marked(list []views.Run) string {
	var b strings.Builder
	for _, run := range list {
		if run.Changed {
			b.WriteString("[")
		}
		b.WriteString(spelled(run))
		if run.Changed {
			b.WriteString("]")
		}
	}
	return b.String()
}

func spelled(run views.Run) string {
	var b strings.Builder
	for _, part := range run.Segments {
		b.WriteString(part.Text + part.Mark)
	}
	return b.String()
}

func TestWordsThatDifferStandOut(t *testing.T) {
	for _, c := range []struct{ from, to, before, after string }{
		{"editor", "reviewer", "[editor]", "[reviewer]"},
		{"the quick brown fox", "the quick red fox", "the quick [brown] fox", "the quick [red] fox"},
		{"a b c", "a c", "a [b ]c", "a c"},
		{"a c", "a b c", "a c", "a [b ]c"},
		{"same", "same", "same", "same"},
		{"two words", "two  words", "two[␠]words", "two[␠␠]words"},
		{"one\ntwo", "one two", "one[↵]two", "one[␠]two"},
		{"FG-PALE-20L", "FG-PALE-30L", "FG-PALE-[20L]", "FG-PALE-[30L]"},
		{"x\u200by", "xy", "[xZWSPy]", "[xy]"},
		{"", "new", "", "[new]"},
		{"ärger über öl", "ärger unter öl", "ärger [über] öl", "ärger [unter] öl"},
	} {
		old, now := views.Compare(card.Mark(c.from), card.Mark(c.to))
		if marked(old) != c.before || marked(now) != c.after {
			t.Errorf("%q → %q shows %s → %s, want %s → %s", c.from, c.to, marked(old), marked(now), c.before, c.after)
		}
	}
}

// Whatever is compared, each side still says all of its text, and what did not change is the same on both.
func TestNoWordIsLost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", "word", " ", "  ", "\n", "-", "é", "\u200b", "日本", strings.Repeat("x", 90)}
	some := func() string {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 3000 {
		from, to := some(), some()
		old, now := views.Compare(card.Mark(from), card.Mark(to))
		for text, runs := range map[string][]views.Run{from: old, to: now} {
			if lettersOf(runs) != lettersOf([]views.Run{{Segments: card.Mark(text)}}) {
				t.Fatalf("%q is shown as %s", text, marked(runs))
			}
		}
		if kept(old) != kept(now) {
			t.Fatalf("%q → %q keeps %q and %q", from, to, kept(old), kept(now))
		}
	}
}

// lettersOf leaves white space out, which may have become marks.
func lettersOf(list []views.Run) string {
	var b strings.Builder
	for _, run := range list {
		b.WriteString(spelled(run))
	}
	return strings.NewReplacer(" ", "", "\n", "", "␠", "", "↵", "").Replace(b.String())
}

func kept(list []views.Run) string {
	var b strings.Builder
	for _, run := range list {
		if !run.Changed {
			b.WriteString(spelled(run))
		}
	}
	return b.String()
}

func TestExcerptsSayHowMuchTheyLeaveOut(t *testing.T) {
	old, now := views.Compare(card.Mark(strings.Repeat("word ", 1000)+"one"), card.Mark(strings.Repeat("word ", 1000)+"two"))
	for _, side := range [][]views.Run{old, now} {
		short, cut := views.Excerpt(side)
		if !cut || len(short) != 4 {
			t.Fatalf("%v %d runs", cut, len(short))
		}
		shown, left := 0, 0
		for _, run := range short {
			shown += len(spelled(run))
			left += run.Skipped
		}
		if shown+left != 5003 {
			t.Errorf("%d shown and %d left out of 5003", shown, left)
		}
	}
	if short, cut := views.Excerpt([]views.Run{{Segments: card.Mark("short")}}); cut || len(short) != 1 {
		t.Error("a short text was cut")
	}
}

func TestWhatIsDecidedInPlaceIsAllInView(t *testing.T) {
	change := func(s string) card.Change {
		return card.Change{Field: "f", Label: "F", Type: card.Text, From: text("a"), To: text(s)}
	}
	for name, c := range map[string]struct {
		records []card.Record
		want    bool
	}{
		"one field":     {[]card.Record{order(change("b"))}, true},
		"six fields":    {[]card.Record{order(slices.Repeat([]card.Change{change("b")}, 6)...)}, true},
		"seven fields":  {[]card.Record{order(slices.Repeat([]card.Change{change("b")}, 7)...)}, false},
		"a long value":  {[]card.Record{order(change(strings.Repeat("b", 201)))}, false},
		"two records":   {[]card.Record{order(change("b")), order(change("b"))}, false},
		"nothing known": {nil, false},
	} {
		if got := views.InPlace(views.Card{Records: c.records}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWordsAreNotPickedOutOfATextThatIsAnother(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     int
	}{
		{"Keeps items and texts up to date", "Reads and comments on everything, and nothing else", 1},
		{"the quick brown fox", "the quick red fox", 3},
		{"editor", "reviewer", 1},
	} {
		f := views.FieldOf(card.Change{Field: "f", Label: "F", Type: card.Text, From: text(c.from), To: text(c.to)})
		if len(f.Before.Runs) != c.want {
			t.Errorf("%q → %q is shown as %s", c.from, c.to, marked(f.Before.Runs))
		}
	}
}
