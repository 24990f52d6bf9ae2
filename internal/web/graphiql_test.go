package web_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/web"
)

// What is taken from others is what was looked at: the files of the npm registry, unpacked. The stylesheet
// is graphiql.min.css less its @font-face rules.
var explorerFiles = map[string]string{
	"/graphiql/graphiql-3.9.0.min.js":   "a330a2be1d2389486840a9d0a834767d9083a23f105879e0de54e4fce83d3513",
	"/graphiql/graphiql-3.9.0.min.css":  "42f6189591b830b14d391333130056c61a98409a7f369c64d070bf686ae4c231",
	"/graphiql/react-18.3.1.min.js":     "d949f1c3687aedadcedac85261865f29b17cd273997e7f6b2bfc53b2f9d4c4dd",
	"/graphiql/react-dom-18.3.1.min.js": "35f4f974f4b2bcd44da73963347f8952e341f83909e4498227d4e26b98f66f0d",
}

func explore(t *testing.T, path, encoding string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	web.GraphiQL().ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

func TestTheExplorerIsTheOneTested(t *testing.T) {
	for path, want := range explorerFiles {
		plain, body := explore(t, path, "identity")
		if sum := sha256.Sum256([]byte(body)); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is another one: %x", path, sum)
		}
		packed, small := explore(t, path, "gzip, br")
		unpacker, err := gzip.NewReader(strings.NewReader(small))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if again, err := io.ReadAll(unpacker); err != nil || string(again) != body {
			t.Errorf("%s is another file when compressed: %v", path, err)
		}
		if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is sent as %q and %q", path, plain.Header.Get("Content-Encoding"), packed.Header.Get("Content-Encoding"))
		}
		if strings.Contains(body, "@font-face") || !strings.Contains(packed.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s is sent with %v", path, packed.Header)
		}
	}
}

func TestTheExplorerLoadsNothingFromElsewhere(t *testing.T) {
	page, body := explore(t, "/graphiql", "")
	policy := page.Header.Get("Content-Security-Policy")
	if page.StatusCode != http.StatusOK || !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "default-src 'none';") {
		t.Errorf("%d with the policy %q", page.StatusCode, policy)
	}
	loads := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(body, -1)
	if len(loads) < 7 {
		t.Errorf("the page loads %v", loads)
	}
	for _, one := range loads {
		if one[1] == "/" || one[1] == "data:," {
			continue
		}
		answer, file := explore(t, one[1], "identity")
		if answer.StatusCode != http.StatusOK || file == "" {
			t.Errorf("%s answers %d", one[1], answer.StatusCode)
		}
		if _, vendored := explorerFiles[one[1]]; !vendored && regexp.MustCompile(`https?://|localStorage|sessionStorage|eval\(|innerHTML`).MatchString(file) {
			t.Errorf("%s leads out of the policy", one[1])
		}
	}
	for _, path := range []string{"/graphiql/", "/graphiql/nothing.js", "/graphiql/graphiql-3.9.0.min.js.gz", "/graphiql/../graphiql.go"} {
		if answer, _ := explore(t, path, ""); answer.StatusCode == http.StatusOK {
			t.Errorf("%s answers %d", path, answer.StatusCode)
		}
	}
}
