package offline

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	isoDate  = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`)
	dayFirst = regexp.MustCompile(`^(?:the )?(\d{1,2})(?:st|nd|rd|th)?\.?(?: of)? ([a-z]+)\.?,? (\d{4})$`)
	dayAfter = regexp.MustCompile(`^([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$`)
	months   = words("january february march april may june july august september october november december")
)

// parseDate reads 2026-06-02, 2 June 2026 and June 2nd, 2026; any other form is refused, since it may
// mean another day. It knows no today: a sentence means the same whenever it is read.
func parseDate(text string) (string, error) {
	said := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	if isoDate.MatchString(said) {
		parts := strings.Split(said, "-")
		return onCalendar(text, parts[0], parts[1], parts[2])
	}
	if m := dayFirst.FindStringSubmatch(said); m != nil {
		return onCalendar(text, m[3], month(m[2]), m[1])
	}
	if m := dayAfter.FindStringSubmatch(said); m != nil {
		return onCalendar(text, m[3], month(m[1]), m[2])
	}
	return "", errors.New(quote(text) + " is not one I can read. Write it as 2026-06-02 or 2 June 2026, with its year.")
}

// month gives the number of a month, by its name or the first three letters of it or more.
func month(name string) string {
	i := slices.IndexFunc(months, func(m string) bool {
		return len(name) >= 3 && strings.HasPrefix(m, name) || name == "sept" && m == "september"
	})
	return strconv.Itoa(i + 1)
}

func onCalendar(text, year, month, day string) (string, error) {
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if y == 0 || int(t.Month()) != m || t.Day() != d {
		return "", errors.New(quote(text) + " is no day of the calendar.")
	}
	return t.Format(time.DateOnly), nil
}

// daysAfter moves a date; false where it is not one or would leave the calendar.
func daysAfter(day string, days int) (string, bool) {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return "", false
	}
	t = t.AddDate(0, 0, days)
	return t.Format(time.DateOnly), t.Year() > 0 && t.Year() <= 9999
}
