package redact

import "strings"

// ibans is how long an IBAN is, by country.
var ibans = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28,
	"CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23,
	"GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28,
	"LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24,
	"SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// nextIBAN finds an IBAN: of a country, as long as that one's, with the right check digits, in groups or not.
func nextIBAN(s string) (start, end int, ok bool) {
	for i := 0; i+15 <= len(s); i++ {
		if !isLetter(s[i]) || !isLetter(s[i+1]) || !isDigit(s[i+2]) || !isDigit(s[i+3]) || i > 0 && isWord(s[i-1]) {
			continue
		}
		length, known := ibans[strings.ToUpper(s[i:i+2])]
		if !known {
			continue
		}
		if code, end := wordOf(s, i, length); len(code) == length && (end == len(s) || !isWord(s[end])) && checks(code) {
			return i, end, true
		}
	}
	return 0, 0, false
}

// wordOf reads so many letters and digits, with at most one sign between two of them.
func wordOf(s string, at, length int) (word string, end int) {
	var b strings.Builder
	for b.Len() < length && at < len(s) {
		if !isWord(s[at]) {
			gap := separatorAt(s[at:])
			if gap == 0 || at+gap >= len(s) || !isWord(s[at+gap]) {
				break
			}
			at += gap
		}
		b.WriteByte(s[at])
		at++
	}
	return strings.ToUpper(b.String()), at
}

// checks computes the remainder that the check digits make one.
func checks(code string) bool {
	rest := 0
	for _, c := range []byte(code[4:] + code[:4]) {
		if isDigit(c) {
			rest = rest*10 + int(c-'0')
		} else {
			rest = rest*100 + int(c-'A') + 10
		}
		rest %= 97
	}
	return rest == 1
}

func isWord(b byte) bool { return isDigit(b) || isLetter(b) }
