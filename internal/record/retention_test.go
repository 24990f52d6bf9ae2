package record

import (
	"strings"
	"testing"
)

func TestForHowLongProposalsAreKept(t *testing.T) {
	for say, c := range map[string]struct {
		days  int
		wrong string
	}{
		"approval_retention_days: 2; rejected_within: 48h\n": {days: 2},
		"approval_retention_days: 1; rejected_within: 48h\n": {wrong: "shorter than assistant.rejected_within"},
		"":                                 {},
		"approval_retention_days: 30\n":    {days: 30},
		"approval_retention_days: 1\n":     {days: 1},
		"approval_retention_days: 0\n":     {wrong: "from 1 to 36525"},
		"approval_retention_days: -1\n":    {wrong: "from 1 to 36525"},
		"approval_retention_days: 36526\n": {wrong: "from 1 to 36525"},
		"approval_retention_days: 30d\n":   {wrong: "from 1 to 36525"},
		"approval_retention_days:\n":       {wrong: "approval_retention_days"},
		"approval_retention_day: 30\n":     {wrong: "approval_retention_days"},
	} {
		file := small
		if days, text, ok := strings.Cut(say, "; "); ok { // of what was rejected
			say = days + "\n"
			file = strings.Replace(small, "  provider: offline\n", "  provider: offline\n  "+text, 1)
		}
		problems := &Problems{File: "countersign.yaml"}
		d := parse([]byte(say+file), problems)
		err := problems.err()
		if c.wrong == "" && (err != nil || d.keepDays != c.days) {
			t.Errorf("%q: %d days, %v", say, d.keepDays, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%q: %v", say, err)
		}
	}
}
