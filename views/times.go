package views

import (
	"fmt"
	"time"
)

// Absolute says when something was or will be, in UTC and with the zone said: the time alone where it
// is the day of now, else with its date. The script of the page puts it into the reader's zone.
func Absolute(at, now time.Time) string {
	at, now = at.UTC(), now.UTC()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04 UTC")
	}
	return at.Format("Mon 2 Jan 2006, 15:04 UTC")
}

// Relative says how far a time is from now: "6 minutes ago", "in 24 minutes".
func Relative(at, now time.Time) string {
	away := at.Sub(now)
	if away > 0 {
		return "in " + Span(away)
	}
	if away > -time.Minute {
		return "just now"
	}
	return Span(-away) + " ago"
}

// Left says how long there is until a time: "24 min left", "no time left".
func Left(until, now time.Time) string {
	if !until.After(now) {
		return "no time left"
	}
	return Span(until.Sub(now)) + " left"
}

// Span says a length of time in its largest unit, rounded down: nobody is told of time they do not have.
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return counted(int(d/time.Second), "second")
	case d < time.Hour:
		return counted(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return counted(int(d/time.Hour), "hour")
	}
	return counted(int(d/(24*time.Hour)), "day")
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// urgent: so little time is left that it is worth a colour.
func urgent(until, now time.Time) bool { return until.Sub(now) < 5*time.Minute }
