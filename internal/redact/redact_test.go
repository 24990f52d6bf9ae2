package redact_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/redact"
)

const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nq0X9\n-----END RSA PRIVATE KEY-----"

func TestSecretsAreReplacedByTheirKind(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"use sk-proj-abcDEF123456ghiJKL now", "use (redacted: API key) now"},
		{"sk_live_4eC39HqLyjWDarjtT1zdp7dc", "(redacted: API key)"},
		{"x AKIAIOSFODNN7EXAMPLE y", "x (redacted: API key) y"},
		{"AIzaSyA-1234567890abcdefghijklmnopqrstu", "(redacted: API key)"},
		{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "(redacted: token)"},
		{"github_pat_11ABCDEFG0123456789_abcdef", "(redacted: token)"},
		{"xoxb-123456789012-abcdefABCDEF", "(redacted: token)"},
		{"glpat-abcdEFGH12345678zz", "(redacted: token)"},
		{"csa_01h455vb4pex5vsknk084sn02q css_5up3r53cr3t cst_0123456789", "(redacted: token) (redacted: token) (redacted: token)"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", "(redacted: token)"},
		{"send Bearer abc.def-ghi_jkl012 with it", "send Bearer (redacted: token) with it"},
		{"Authorization: Basic dXNlcjpwYXNz, then", "Authorization: (redacted: credentials), then"},
		{"Set-Cookie: sid=31d4d96e407aad42; Path=/\nnext", "Set-Cookie: (redacted: credentials)\nnext"},
		{"card 4111 1111 1111 1111 please", "card (redacted: card number) please"},
		{"4111-1111-1111-1111,5500000000000004;378282246310005", "(redacted: card number),(redacted: card number);(redacted: card number)"},
		{"3782 822463 10005", "(redacted: card number)"},
		{"9 4111 1111 1111 1111 7", "9 (redacted: card number) 7"},
		{"card4111111111111111.", "card(redacted: card number)."},
		{"pay DE89 3704 0044 0532 0130 00 today", "pay (redacted: IBAN) today"},
		{"gb82west12345698765432", "(redacted: IBAN)"},
		{"before\n" + pem + "\nafter", "before\n(redacted: private key)\nafter"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", "(redacted: private key)"},
		{"postgres://ada:hunter2@db:5432/erp?x=1", "postgres://ada:(redacted: password)@db:5432/erp?x=1"},
		{"redis://:p@ss@host", "redis://:(redacted: password)@host"},
		{"host=db password=hunter2 user=ada", "host=db password=(redacted: secret) user=ada"},
		{`{"password": "hun\"ter2", "n": 1}`, `{"password": "(redacted: secret)", "n": 1}`},
		{`"{\"api_key\":\"hunter2\"}"`, `"{\"api_key\":\"(redacted: secret)\"}"`},
		{"DB_PASSWORD='a b c' TOKEN=xyz", "DB_PASSWORD='(redacted: secret)' TOKEN=(redacted: secret)"},
		{"<password>hunter2</password>", "<password>(redacted: secret)</password>"},
		{"psql --password hunter2 -c x", "psql --password (redacted: secret) -c x"},
		{strings.Repeat("long text ", 5000) + "4111111111111111" + strings.Repeat(" goes on", 5000), strings.Repeat("long text ", 5000) + "(redacted: card number)" + strings.Repeat(" goes on", 5000)},
		{"4111111111111111\xff\xfe", "(redacted: card number)\uFFFD"},
		{"a marker (redacted: 4111 1111 1111 1111) hides nothing", "a marker (redacted: (redacted: card number)) hides nothing"},
	} {
		if got := redact.Text(c.in); got != c.want {
			t.Errorf("%.80q\n is  %.200q\n not %.200q", c.in, got, c.want)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, text := range []string{
		"", "Please push PO-1042 by two days.", "the secretary: Jane", "tokens: 5 of 10", "a bearer of news", "The password is in the safe", "sk-short",
		"4111 1111 1111 1112", "1234567890123456", "1700000000000000", "0.4111111111111111", "4111111111111111000000000000", "0000 0000 0000 0000",
		"DE88 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 0", "XX89370400440532013000", "https://example.com:8080/a?email=ada@example.com", "ada@example.com",
		"6ba7b810-9dad-41d1-80b4-411111111111", "prop_01h455vb4pex5vsknk084sn02q", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca4111111111111111",
		"a basic understanding of cookies", "Größe: 12 µm", "-----BEGIN PUBLIC KEY-----", "(redacted: card number)",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func compiled(t testing.TB, named ...redact.Named) *redact.Patterns {
	t.Helper()
	p, err := redact.Compile(named)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnAdministratorsPatterns(t *testing.T) {
	p := compiled(t, redact.Named{Name: "order numbers", Expression: `PO-[0-9]+`}, redact.Named{Name: "any word", Expression: `red\w*`}, redact.Named{Name: "site", Expression: `site (?P<secret>\w+)`})
	for in, want := range map[string]string{
		"see PO-1042, PO-7": "see (redacted: order numbers), (redacted: order numbers)", "a red card": "a (redacted: any word) card", "site mill": "site (redacted: site)",
		"(redacted: order numbers) and redacted": "(redacted: order numbers) and (redacted: any word)", "PO-4111111111111111": "PO-(redacted: card number)",
	} {
		if got := p.Text(in); got != want {
			t.Errorf("%q is %q, not %q", in, got, want)
		}
	}
	if got := redact.Text("(redacted: order numbers PO-1)"); got != "(redacted: order numbers PO-1)" {
		t.Error(got)
	}
	if !p.Marked("x (redacted: order numbers)") || p.Marked("(redacted: nothing known)") || !(*redact.Patterns)(nil).Marked("(redacted: IBAN)") {
		t.Error("markers are not known again")
	}
	for _, bad := range []redact.Named{{Name: "x", Expression: "("}, {Name: "", Expression: "a"}, {Name: "a)", Expression: "a"}, {Name: strings.Repeat("x", 41), Expression: "a"}, {Name: "x", Expression: strings.Repeat("a", redact.MaxExpression+1)}, {Name: "x", Expression: `(?=a)`}} {
		if _, err := redact.Compile([]redact.Named{bad}); err == nil {
			t.Errorf("%.60v is taken", bad)
		}
	}
}

func TestJSONAtEveryDepth(t *testing.T) {
	p := compiled(t, redact.Named{Name: "order numbers", Expression: `PO-[0-9]+`})
	for in, want := range map[string]string{
		`{"a": [{"b": {"c": "PO-1"}}], "n": 4111111111111111, "big": 12345678901234567890.10}`: `{"a":[{"b":{"c":"(redacted: order numbers)"}}],"big":12345678901234567890.10,"n":"(redacted: card number)"}`,
		`{"PO-1": 1, "PO-2": 2, "Password_Hash": {"x": 1}, "api-key": null, "token": 5}`:       `{"(redacted: order numbers)":1,"(redacted: order numbers) 2":2,"Password_Hash":"(redacted: secret)","api-key":null,"token":"(redacted: secret)"}`,
		`"x 4111111111111111"`: `"x (redacted: card number)"`, `nonsense 4111111111111111`: `"(redacted: text)"`, `{} {}`: `"(redacted: text)"`, `{"a": "\ud800"}`: `{"a":"�"}`, ``: `"(redacted: text)"`,
	} {
		if got := p.JSON([]byte(in)).String(); got != want {
			t.Errorf("%s\n is  %s\n not %s", in, got, want)
		}
	}
	if got := (redact.JSON{}).String(); got != `{}` {
		t.Error(got)
	}
	deep := strings.Repeat(`{"a":[`, 4000) + `"4111111111111111"` + strings.Repeat(`]}`, 4000)
	if got := redact.JSONOf([]byte(deep)).String(); !strings.Contains(got, `"(redacted: card number)"`) {
		t.Errorf("at depth 8000: %.100s", got)
	}
}

// However a text is made, and whatever the pattern, the work is bounded: far from a minute, and on an idle machine
// below a second or two. Without the budget "far" takes many minutes.
func TestLongTextIsBoundedWork(t *testing.T) {
	p := compiled(t, redact.Named{Name: "order numbers", Expression: `PO-[0-9]+`}, redact.Named{Name: "far", Expression: `a[^z]*z|c`}, redact.Named{Name: "nested", Expression: `((x+x+)+y|PO)`})
	for name, text := range map[string]string{
		"letters": strings.Repeat("a", 10<<20), "digits": strings.Repeat("4111 ", 2<<20), "far": strings.Repeat("ac", 1<<20), "markers": strings.Repeat("(redacted: ", 1<<20), "pairs": strings.Repeat(`password="`, 1<<20),
		"orders": strings.Repeat("PO-1 ", 2<<20), "ibans": strings.Repeat("DE89", 2<<20), "urls": strings.Repeat("a://a:a", 1<<20), "nested": strings.Repeat("x", 1<<20), "keys": strings.Repeat("-----BEGIN PRIVATE KEY-----", 1<<18), "quotes": strings.Repeat(`token='"`, 1<<20), "invalid": strings.Repeat("\xff", 1<<20),
	} {
		begun := time.Now()
		got := p.Text(text)
		if took := time.Since(begun); took > time.Minute || len(got) > 256<<10 || p.Text(got) != got {
			t.Errorf("%s: %s, %d bytes, the same again: %t", name, took, len(got), p.Text(got) == got)
		} else {
			t.Logf("%s: %s, %d bytes", name, took, len(got))
		}
	}
	if got := p.Text(strings.Repeat("word ", 1<<20)); !strings.HasSuffix(got, "(redacted: the rest)") {
		t.Errorf("it ends %q", got[len(got)-40:])
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"4111 1111 1111 1111", "password=x", pem, "postgres://a:b@c", "(redacted: IBAN)", "DE89370400440532013000", "\xff4111111111111111", "PO-1PO-2", "a(redacted: x)z", "Bearer aaaaaaaaaaaaaaaaaaa"} {
		f.Add(seed, `PO-[0-9]+`)
	}
	f.Add("aaa", `^a|a$|\ba`)
	f.Add("redacted: card number", `[a-z]+`)
	f.Fuzz(func(t *testing.T, text, expression string) {
		if len(text) > 10_000 || len(expression) > 100 {
			return // how long it takes is another test's
		}
		p, err := redact.Compile([]redact.Named{{Name: "orders", Expression: expression}})
		if err != nil {
			p = nil
		}
		for _, by := range []*redact.Patterns{nil, p} {
			once := by.Text(text)
			if twice := by.Text(once); twice != once {
				t.Errorf("%q by %q: once %q, twice %q", text, expression, once, twice)
			}
		}
	})
}
