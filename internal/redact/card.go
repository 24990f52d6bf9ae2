package redact

import "strings"

// groupings are how the digits of a card are written in groups.
var groupings = [][]int{{4, 4, 4, 4, 3}, {4, 4, 4, 4, 2}, {4, 4, 4, 4, 1}, {4, 4, 4, 4}, {4, 4, 4, 1}, {4, 6, 5}, {4, 6, 4}}

// nextCard finds the number of a payment card: 13 to 19 digits, alone or in the usual groups, that begin as
// cards do and end with the right check digit.
func nextCard(s string) (start, end int, ok bool) {
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			i++
			continue
		}
		run := i + digitsAt(s[i:])
		if n := run - i; n >= 13 && n <= 19 && isCard(s[i:run]) && !isFraction(s, i) && !inDigest(s, i, run) {
			return i, run, true
		} else if n == 4 {
			for _, g := range groupings {
				if end, ok := grouped(s, i, g); ok {
					return i, end, true
				}
			}
		}
		i = run
	}
	return 0, 0, false
}

// grouped reads groups of so many digits with one sign between two of them, that are the number of a card.
func grouped(s string, from int, groups []int) (end int, ok bool) {
	digits, at := "", from
	for i, n := range groups {
		if i > 0 {
			at += separatorAt(s[at:])
		}
		if at >= len(s) || digitsAt(s[at:]) != n {
			return 0, false
		}
		digits += s[at : at+n]
		at += n
	}
	return at, isCard(digits)
}

func isCard(digits string) bool {
	switch first := digits[:2]; {
	case first >= "22" && first <= "27", first == "30", first >= "34" && first <= "69":
		return luhn(digits) && strings.Trim(digits, digits[:1]) != ""
	}
	return false
}

// luhn checks the check digit.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// isFraction: the digits come after the point of a decimal.
func isFraction(s string, at int) bool { return at >= 2 && s[at-1] == '.' && isDigit(s[at-2]) }

// inDigest: the digits stand within a long hexadecimal number, as a fingerprint is.
func inDigest(s string, start, end int) bool {
	for start > 0 && isHex(s[start-1]) {
		start--
	}
	for end < len(s) && isHex(s[end]) {
		end++
	}
	return end-start >= 32
}

// separatorAt is how long the sign is that stands between two groups of a number.
func separatorAt(s string) int {
	for _, sign := range []string{" ", "-", ".", "\u00a0", "\u2009", "\u202f"} {
		if strings.HasPrefix(s, sign) {
			return len(sign)
		}
	}
	return 0
}

func digitsAt(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isHex(b byte) bool    { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }
