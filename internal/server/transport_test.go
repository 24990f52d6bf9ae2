package server_test

import (
	"net/url"
	"strings"
	"testing"
)

const (
	jsonBody = "Content-Type: application/json"
	query    = `{"query": "{ viewer { role } }"}`
)

// writing is a mutation as a body.
const writing = `{"query": "mutation { createConversation(input: {title: \"from outside\"}) { conversation { id } } }"}`

func TestWhatTheEndpointTakes(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	get := "/graphql?query=" + url.QueryEscape(`mutation { createConversation(input: {}) { conversation { id } } }`)
	form := url.Values{"query": {`mutation { createConversation(input: {}) { conversation { id } } }`}}.Encode()
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		allow              string
	}{
		"JSON":                       {"POST", "/graphql", query, []string{jsonBody}, 200, ""},
		"a query by GET":             {"GET", "/graphql?query=" + url.QueryEscape("{ viewer { role } }"), "", nil, 200, ""},
		"a mutation by GET":          {"GET", get, "", nil, 405, "POST"},
		"PUT":                        {"PUT", "/graphql", query, []string{jsonBody}, 405, "GET, POST"},
		"no query":                   {"POST", "/graphql", `{}`, []string{jsonBody}, 400, ""},
		"broken":                     {"POST", "/graphql", `{"query": `, []string{jsonBody}, 400, ""},
		"a list":                     {"POST", "/graphql", `[` + query + `]`, []string{jsonBody}, 400, ""},
		"two":                        {"POST", "/graphql", query + query, []string{jsonBody}, 400, ""},
		"a form":                     {"POST", "/graphql", form, []string{"Content-Type: application/x-www-form-urlencoded"}, 415, ""},
		"multipart":                  {"POST", "/graphql", "--x\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n" + writing + "\r\n--x--\r\n", []string{"Content-Type: multipart/form-data; boundary=x"}, 415, ""},
		"plain text":                 {"POST", "/graphql", writing, []string{"Content-Type: text/plain"}, 415, ""},
		"no type":                    {"POST", "/graphql", writing, nil, 415, ""},
		"GraphQL":                    {"POST", "/graphql", `{ viewer { role } }`, []string{"Content-Type: application/graphql"}, 415, ""},
		"another character set":      {"POST", "/graphql", query, []string{"Content-Type: application/json; charset=latin1"}, 415, ""},
		"an answer we do not have":   {"POST", "/graphql", query, []string{jsonBody, "Accept: text/html"}, 406, ""},
		"a stream":                   {"POST", "/graphql", query, []string{jsonBody, "Accept: text/event-stream"}, 200, ""},
		"a large body":               {"POST", "/graphql", `{"query": "` + strings.Repeat(" ", 1<<20) + `"}`, []string{jsonBody}, 413, ""},
		"an operation not there":     {"POST", "/graphql", `{"query": "query a { viewer { role } }", "operationName": "b"}`, []string{jsonBody, "Accept: application/graphql-response+json"}, 400, ""},
		"nothing to run":             {"POST", "/graphql", `{"query": "fragment f on Query { viewer { role } }"}`, []string{jsonBody, "Accept: application/graphql-response+json"}, 400, ""},
		"variables that are no list": {"POST", "/graphql", `{"query": "{ viewer { role } }", "variables": [1]}`, []string{jsonBody}, 400, ""},
	} {
		got := maria.send(c.method, c.path, c.body, c.headers...)
		if got.status != c.status || got.header.Get("Allow") != c.allow {
			t.Errorf("%s: %d %q, want %d %q: %.300s", name, got.status, got.header.Get("Allow"), c.status, c.allow, got.body)
		}
		if c.status != 200 && c.status != 406 && (!strings.Contains(got.body, `"errors"`) || strings.Contains(got.body, `"data"`)) {
			t.Errorf("%s: %.300s", name, got.body)
		}
	}
	if n := w.sql(`SELECT count(*) FROM countersign.conversations`); n != "0" {
		t.Errorf("%s mutations ran", n)
	}
}

// What is refused whole is 400 to who asks for the media type of the draft, 200 to others.
func TestARefusedRequestHasTheStatusOfItsMediaType(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	eleven := `{"query": "mutation { ` + times(11, `m%d: createConversation(input: {}) { clientMutationId } `) + `}"}`
	for accept, status := range map[string]int{"application/graphql-response+json": 400, "application/json": 200, "*/*": 200, "application/json;q=0.1, application/graphql-response+json": 400} {
		for name, body := range map[string]string{"11 mutations": eleven, "an unknown field": `{"query": "{ nothing }"}`, "no GraphQL": `{"query": "{"}`} {
			got := maria.send("POST", "/graphql", body, jsonBody, "Accept: "+accept)
			if got.status != status || strings.Contains(got.body, `"data"`) || status == 400 != strings.HasPrefix(got.header.Get("Content-Type"), "application/graphql-response+json") {
				t.Errorf("%s, %s: %d %s %s", accept, name, got.status, got.header.Get("Content-Type"), got.body)
			}
			if name == "11 mutations" && (!strings.Contains(got.body, "mutations in one request is at most 10") || !strings.Contains(got.body, "LIMIT_EXCEEDED")) {
				t.Errorf("%s: %s", accept, got.body)
			}
		}
	}
}
