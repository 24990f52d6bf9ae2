package redact

import "regexp"

// What a secret is called where it stands beside its name.
const (
	secretName = `(?:pass(?:word|wd|phrase|code)[a-z]{0,12}|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|(?:api|access|private|account|encryption)[_ -]?key|token|credentials?|cv[vc]2?)`
	// after a name: its closing quote, what makes it a pair, and the value, quoted or up to the next space.
	pair  = `(?:[_-][a-z0-9_-]{1,20}|[0-9]{1,3})?(?:\\?["'])?(?:\s{0,8}(?:=>|:=|:|=)\s{0,8}|>)`
	value = `(?:\\["'](?P<secret>[^"'\\\r\n]+)|"(?P<secret>(?:[^"\\\r\n]|\\.)+)|'(?P<secret>(?:[^'\\\r\n]|\\.)+)|(?P<secret>[^\s&"'<\\]+))`
)

// builtIn are the rules that always hold, the surest first.
var builtIn = []rule{
	expression("private key", regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`), "private key"),
	expression("password", regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#:@"']*:(?P<secret>[^\s/?#"']+)@`), "://"),
	expression("credentials", regexp.MustCompile(`(?i)authorization(?:\\?["'])?\s{0,8}[:=]\s{0,8}(?:\\?["'])?(?P<secret>(?:(?:basic|bearer|digest|negotiate|token)\s+)?[^\s,"'\\]+)`), "authorization"),
	expression("credentials", regexp.MustCompile(`(?i)cookie2?(?:\\?["'])?\s{0,8}[:=]\s{0,8}(?:\\?["'])?(?P<secret>[^\s"'\\][^\r\n"'\\]*)`), "cookie"),
	expression(underSecretName, regexp.MustCompile(`(?i)`+secretName+pair+value), "pass", "pwd", "secret", "key", "token", "credential", "cv"),
	expression(underSecretName, regexp.MustCompile(`(?i)--(?:[a-z]+-)*(?:password|passwd|secret|token|api-?key)\s+(?P<secret>[^\s"']+)`), "--"),
	expression("token", regexp.MustCompile(`(?i)\bbearer\s+(?P<secret>[a-z0-9._~+/=-]{12,})`), "bearer"),
	expression("token", regexp.MustCompile(`eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,3}`), "eyj"),
	expression("token", regexp.MustCompile(`cs[a-z]_[0-9A-Za-z]{8,}`), "cs"), // of ours
	expression("token", regexp.MustCompile(`(?:gh[a-z]_[A-Za-z0-9_]{16,}|github_pat_\w{16,}|gl[a-z]{2,4}-[A-Za-z0-9_.-]{16,}|x(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}|ya29\.[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{24,}|do[opr]_v1_[a-f0-9]{32,}|shp[a-z]{2}_[a-fA-F0-9]{24,}|dapi[a-f0-9]{32})`),
		"gh", "github", "gl", "xox", "xapp", "ya29", "npm_", "pypi", "hf_", "_v1_", "shp", "dapi"),
	expression("API key", regexp.MustCompile(`(?:\bsk-[A-Za-z0-9_-]{12,}|\b[a-z]{2}_(?:live|test)_[A-Za-z0-9]{10,}|\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ABIA|ACCA|ANPA|ANVA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|hooks\.slack\.com/services/[A-Za-z0-9/]{20,}|whsec_[A-Za-z0-9+/=]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{20,})`),
		"sk-", "_live_", "_test_", "akia", "asia", "agpa", "aida", "aroa", "abia", "acca", "anpa", "anva", "aiza", "sg.", "hooks.slack", "whsec_", "age-secret"),
	{kind: "card number", next: nextCard},
	{kind: "IBAN", next: nextIBAN},
}

// kinds are what a marker can say without an administrator's patterns.
var kinds = func() map[string]bool {
	all := map[string]bool{tooLong: true, unsettled: true, underSecretName: true}
	for _, r := range builtIn {
		all[r.kind] = true
	}
	return all
}()
