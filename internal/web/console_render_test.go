package web

import "testing"

func TestNoAddressLeadsAway(t *testing.T) {
	for asked, want := range map[string]string{
		"/proposals/prop_1":       "/proposals/prop_1",
		"/history?show=applied":   "/history?show=applied",
		"/conversations/c#m":      "/conversations/c#m",
		"":                        "/inbox",
		"/":                       "/inbox",
		"inbox":                   "/inbox",
		"//evil.example":          "/inbox",
		"///evil.example":         "/inbox",
		`/\evil.example`:          "/inbox",
		`\\evil.example`:          "/inbox",
		"https://evil.example":    "/inbox",
		"https:/evil.example":     "/inbox",
		"https:evil.example":      "/inbox",
		"javascript:alert(1)":     "/inbox",
		"/\t/evil.example":        "/inbox",
		"/\n/evil.example":        "/inbox",
		"/x\r\nSet-Cookie: a=b":   "/inbox",
		"/%2f%2fevil.example":     "/%2f%2fevil.example",
		"/sign-in?next=/sign-in":  "/inbox",
		"/sign-out":               "/inbox",
		"/workspace":              "/inbox",
		"http://[::1":             "/inbox",
		"/proposals/x?notice=a b": "/proposals/x?notice=a b",
	} {
		if got := localPath(asked); got != want {
			t.Errorf("localPath(%q) = %q, want %q", asked, got, want)
		}
	}
}
