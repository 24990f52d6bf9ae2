package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestAChangeIsAskedForLookedAtAndConfirmed(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	talk := maria.press(maria.get("/conversations"), "/conversations", "content", "reviewer")
	talk.is(http.StatusOK).says("I have prepared it.", `Rename role "editor" to "reviewer"`, "Confirm")
	inbox := maria.get("/inbox")
	inbox.says("Waiting for you", `Rename role "editor" to "reviewer"`, "minutes left", "before: editor", "after: reviewer")

	path := "/proposals/" + s.sql(`SELECT id FROM countersign.proposals`)
	for n := range inbox.doc.Descendants() {
		if href := attribute(n, "href"); n.Data == "a" && strings.HasPrefix(href, "/proposals/") && !strings.HasSuffix(href, "/revise") {
			path = href
		}
	}
	if name := s.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "editor" {
		t.Fatalf("the role is called %s before anyone confirmed", name)
	}
	done := maria.press(maria.get(path), path+"/confirm")
	done.is(http.StatusOK).says("Your confirmation is recorded.", "Applied. You confirmed it. The change is made.", "What changed")
	if name := s.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "reviewer" {
		t.Errorf("the role is called %s after it was confirmed", name)
	}
	maria.get("/inbox").says("Nothing waits for you")
	maria.get("/history").says("Applied", "confirmed by Maria Rossi")
	maria.get("/history?show=rejected").says("None of these")
}

func TestASecondTabIsShownTheOutcome(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	maria := s.as("maria@harbor.example")
	first, second := maria.get(path), maria.get(path)
	maria.press(first, path+"/confirm").says("Applied.")
	maria.press(second, path+"/confirm").is(http.StatusOK).says("Applied. You confirmed it.")
	maria.press(second, path+"/reject", "reason", "too late").is(http.StatusOK).says("It had been decided before you pressed the button.", "Applied. You confirmed it.")
	maria.press(second, path+"/withdraw").is(http.StatusOK).says("It had been decided before", "Applied.")
	if n := s.sql(`SELECT count(*) FROM countersign.proposal_decisions`); n != "1" {
		t.Errorf("%s decisions", n)
	}
}

func TestRejectWithdrawAndMoreTime(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	rejected, withdrawn := s.propose("4", "reviewer"), s.propose("5", "onlooker")
	maria.get(rejected).says("give it more time")
	maria.press(maria.get(rejected), rejected+"/extend").is(http.StatusOK).says("There is more time now.", "Given more time")
	maria.get(rejected).saysNot("give it more time")
	maria.press(maria.get(rejected), rejected+"/reject", "reason", "Not\r\nnow.").is(http.StatusOK).says("Rejected. You rejected it. Nothing was changed.", "Not now.")
	maria.press(maria.get(withdrawn), withdrawn+"/withdraw").is(http.StatusOK).says("Withdrawn. You withdrew it.")
	if reason := s.sql(`SELECT reason FROM countersign.proposal_decisions WHERE kind = 'reject'`); reason != "Not\nnow." {
		t.Errorf("the reason is %q", reason)
	}
	if name := s.sql(`SELECT string_agg(name, ',' ORDER BY id) FROM core.roles WHERE id IN (4, 5)`); name != "editor,viewer" {
		t.Errorf("the roles are called %s", name)
	}
}

func TestAnotherCardThanTheOneOnScreenIsNotConfirmed(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	maria := s.as("maria@harbor.example")
	for _, seen := range []string{"", strings.Repeat("0", 64), "x"} {
		maria.press(maria.get(path), path+"/confirm", "fingerprint", seen).is(http.StatusOK).says("please look at it again", "Confirm")
	}
	if n := s.sql(`SELECT count(*) FROM countersign.proposal_decisions`); n != "0" {
		t.Errorf("%s decisions were claimed", n)
	}
}

func TestARecordThatChangedIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	maria := s.as("maria@harbor.example")
	page := maria.get(path)
	s.exec(`UPDATE core.roles SET description = 'edited' WHERE id = 4`)
	maria.press(page, path+"/confirm").is(http.StatusOK).says("Not applied. You confirmed it.", "Propose the change again")
	if name := s.sql(`SELECT name || '/' || description FROM core.roles WHERE id = 4`); name != "editor/edited" {
		t.Errorf("the role is %s", name)
	}
}

func TestAConversationIsWhereOneComesBackTo(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	talk := maria.press(maria.get("/conversations"), "/conversations", "content", "reviewer")
	var action string
	for n := range talk.doc.Descendants() {
		if a := attribute(n, "action"); strings.HasSuffix(a, "/confirm") {
			action = a
		}
	}
	done := maria.press(talk, action)
	done.is(http.StatusOK).says("Applied. You confirmed it.", "I have prepared it.")
	if !strings.HasPrefix(done.path, "/conversations/") {
		t.Errorf("it went on at %s", done.path)
	}
	maria.press(talk, action, "back", "https://evil.example/").is(http.StatusOK).says("Applied.")
}

func TestWhoSeesWhichButtons(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	for email, want := range map[string]struct {
		status          int
		confirm, reject bool
	}{
		"maria@harbor.example":  {http.StatusOK, true, true},
		"rosa@harbor.example":   {http.StatusOK, false, true},
		"sam@harbor.example":    {http.StatusOK, false, false},
		"paolo@harbor.example":  {http.StatusForbidden, false, false},
		"jonas@harbor.example":  {http.StatusForbidden, false, false},
		"olu@othersite.example": {http.StatusNotFound, false, false},
	} {
		b := s.as(email)
		page := b.get(path).is(want.status)
		if got := page.form(path+"/confirm") != nil; got != want.confirm {
			t.Errorf("%s may confirm: %v", email, got)
		}
		if got := page.form(path+"/reject") != nil; got != want.reject {
			t.Errorf("%s may reject: %v", email, got)
		}
		if !want.confirm {
			fingerprint := s.sql(`SELECT fingerprint FROM countersign.proposals`)
			refused := b.post(path+"/confirm", url.Values{"fingerprint": {fingerprint}})
			if refused.status != http.StatusForbidden && refused.status != http.StatusNotFound {
				t.Errorf("%s confirmed and got %d", email, refused.status)
			}
		}
	}
	if n := s.sql(`SELECT count(*) FROM countersign.proposal_decisions`); n != "0" {
		t.Errorf("%s decisions were claimed", n)
	}
}
