package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/feed"
)

func TestStatementsDoNotGrowWithTheRows(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	path := s.propose("4", "name 0")
	maria.press(maria.get("/conversations"), "/conversations", "content", "in a conversation")
	talk := ""
	for n := range maria.get("/conversations").doc.Descendants() {
		if href := attribute(n, "href"); strings.HasPrefix(href, "/conversations/") {
			talk = href
		}
	}
	count := func(path string) int {
		s.statements.n = 0
		maria.get(path).is(http.StatusOK)
		return s.statements.n
	}
	pages := []string{"/inbox", path, "/history?show=open", "/conversations", talk}
	before := map[string]int{}
	for _, p := range pages {
		before[p] = count(p)
	}
	for i := range 24 {
		s.propose("4", fmt.Sprintf("name %d", i+1))
		maria.press(maria.get(talk), talk+"/messages", "content", fmt.Sprintf("name %d", 100+i))
	}
	for _, p := range pages {
		if after := count(p); after != before[p] || after > 8 {
			t.Errorf("%s took %d statements, then %d", p, before[p], after)
		}
	}
	if before["/inbox"] > 5 {
		t.Errorf("the inbox took %d statements beside those that say who asks", before["/inbox"])
	}
}

func TestListsGoOnFromWhereTheyEnd(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	for i := range 60 {
		s.propose("4", fmt.Sprintf("name %02d", i))
	}
	if got := len(walk(t, maria, "/inbox")); got != 60 {
		t.Errorf("the queue shows %d of 60", got)
	}
	if got := len(walk(t, maria, "/history?show=open")); got != 60 {
		t.Errorf("the history shows %d of 60", got)
	}
	maria.get("/inbox").says("60 waiting")
	s.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp()`)
	maria.get("/inbox").says("Nothing waits for you")
	if got := len(walk(t, maria, "/history?show=lapsed")); got != 60 {
		t.Errorf("the history shows %d of 60 that expired", got)
	}
}

// walk collects the rows of a list, page by page.
func walk(t *testing.T, b *browser, path string) map[string]bool {
	t.Helper()
	rows := map[string]bool{}
	for pages := 0; path != ""; pages++ {
		page := b.get(path).is(http.StatusOK)
		if path = ""; pages > 10 {
			t.Fatal("the list does not end")
		}
		for n := range page.doc.Descendants() {
			switch href := attribute(n, "href"); {
			case n.Data != "a":
			case attribute(n, "class") == "row":
				if rows[href] {
					t.Errorf("%s is there twice", href)
				}
				rows[href] = true
			case attribute(n, "class") == "button" && strings.Contains(href, "="):
				path = href
			}
		}
	}
	return rows
}

func TestMessages(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	begin := maria.get("/conversations")
	begin.says("What it may do for you", "Which production orders have", "propose to change")
	maria.press(begin, "/conversations", "content", "  ").is(http.StatusBadRequest).says("Write something first.")
	maria.press(begin, "/conversations", "content", strings.Repeat("x", 4001)).is(http.StatusBadRequest).says("too long")
	if n := s.sql(`SELECT count(*) FROM countersign.conversations`); n != "0" {
		t.Errorf("%s conversations were begun", n)
	}
	talk := maria.press(begin, "/conversations", "content", "reviewer\r\nplease")
	action := strings.Split(talk.path, "#")[0] + "/messages"
	twice := talk.form(action)
	twice.Set("content", "onlooker")
	maria.post(action, twice).is(http.StatusOK)
	maria.post(action, twice).is(http.StatusOK)
	if n := s.sql(`SELECT count(*) FROM countersign.messages WHERE role = 'user'`); n != "2" {
		t.Errorf("%s messages", n)
	}
	if said := s.sql(`SELECT content FROM countersign.messages WHERE role = 'user' ORDER BY id LIMIT 1`); said != "reviewer\nplease" {
		t.Errorf("said: %q", said)
	}
	maria.press(talk, action, "content", "").is(http.StatusBadRequest).says("Write something first.", "reviewer")
	for other, want := range map[string]int{"paolo@harbor.example": http.StatusForbidden, "olu@othersite.example": http.StatusNotFound} {
		b := s.as(other)
		b.get(strings.TrimSuffix(action, "/messages")).is(want).saysNot("reviewer")
		b.post(action, url.Values{"content": {"x"}}).is(want).saysNot("reviewer")
		b.post(action, url.Values{"content": {""}}).is(want).saysNot("reviewer")
	}
	for i := range 45 {
		maria.post(action, url.Values{"content": {fmt.Sprintf("name %d", i)}, "key": {fmt.Sprint(i)}}).is(http.StatusOK)
	}
	earlier := ""
	for n := range maria.get(strings.TrimSuffix(action, "/messages")).doc.Descendants() {
		if n.Data == "a" && n.FirstChild != nil && n.FirstChild.Type == html.TextNode && n.FirstChild.Data == "Earlier messages" {
			earlier = attribute(n, "href")
		}
	}
	maria.get(earlier).is(http.StatusOK).says("Earlier messages", "To the latest messages")
}

func TestTheAuditorLooksOn(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.propose("4", "reviewer")
	sam := s.as("sam@harbor.example")
	sam.get("/inbox").says("Nothing waits for you", "deciding is not yours")
	sam.get("/history?show=open").says(`Rename role "editor" to "reviewer"`, "for Maria Rossi")
	may := sam.get("/assistant")
	may.says("changes nothing")
	may.saysNot("propose to")
	s.as("paolo@harbor.example").get("/history?show=open").saysNot("reviewer")
}

// A page says where the feed stood before it was read, so that who follows on from there misses nothing.
func TestAPageHasItsPlaceInTheFeed(t *testing.T) {
	t.Parallel()
	s := start(t)
	card := s.propose("4", "reviewer")
	s.exec(`INSERT INTO countersign.feed (event_id, workspace_id) SELECT id, workspace_id FROM countersign.events`)
	const want = feed.Position(1)
	maria, olu := s.as("maria@harbor.example"), s.as("olu@othersite.example")
	for _, c := range []struct {
		b    *browser
		path string
		at   feed.Position
	}{{maria, "/inbox", want}, {maria, card, want}, {maria, "/history", want}, {maria, "/conversations", want}, {olu, "/inbox", 0}} {
		cursor := ""
		for n := range c.b.get(c.path).is(http.StatusOK).doc.Descendants() {
			if attribute(n, "id") == "top" {
				cursor = attribute(n, "data-cursor")
			}
		}
		if cursor != c.at.Cursor() {
			t.Errorf("%s has the cursor %q, not %q", c.path, cursor, c.at.Cursor())
		}
	}
	if page := s.browser().get("/sign-in"); strings.Contains(page.body, feed.Position(1).Cursor()) {
		t.Error("who is not signed in is given a place in the feed")
	}
}

// What a form is answered with has no address: the page it stood on keeps its own, and can be loaded anew.
func TestARefusedFormLeavesTheAddress(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	maria.header.Set("HX-Request", "true")
	if page := maria.press(maria.get("/conversations"), "/conversations", "content", "").is(http.StatusBadRequest); page.header.Get("HX-Push-Url") != "false" {
		t.Error("the browser is led to an address that has no page")
	}
}
