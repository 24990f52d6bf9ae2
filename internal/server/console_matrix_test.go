package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// throughTheConsole decides by the forms of its pages.
type throughTheConsole struct {
	*stage
	browsers map[string]*console
}

func (c throughTheConsole) do(name string, verb rune, id, fingerprint string) string {
	form, path := url.Values{}, "/proposals/"+id+"/"
	switch verb {
	case 'c', 'a':
		form.Set("fingerprint", fingerprint)
	case 'v':
		form.Set("fingerprint", fingerprint)
		for field, v := range c.other(id) {
			form.Set("to."+field, spelled(v))
		}
	case 'd', 'r':
		form.Set("reason", "no")
	}
	path += map[rune]string{'c': "confirm", 'a': "approve", 'r': "reject", 'd': "disapprove", 'w': "withdraw", 'e': "extend", 'v': "revise"}[verb]
	s := c.browsers[name].send(http.MethodPost, path, form.Encode(), c.browsers[name].cookie, "Origin: "+c.url, "Content-Type: application/x-www-form-urlencoded")
	switch s.status {
	case http.StatusForbidden:
		return "FORBIDDEN"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusUnprocessableEntity: // the form again, and why
		return "too late"
	case http.StatusSeeOther:
		_, notice, _ := strings.Cut(s.header.Get("Location"), "?notice=")
		switch notice, _, _ := strings.Cut(notice, "#"); notice {
		case "decided-before", "lapsed":
			return "too late"
		case "outdated":
			return "outdated"
		}
		return "stands"
	}
	return http.StatusText(s.status)
}

func spelled(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}

func (c throughTheConsole) look(name, id string) (string, bool, bool) {
	b, path := c.browsers[name], "/proposals/"+id
	card := b.open(path)
	before := c.sql(`SELECT number - 1 FROM countersign.proposals WHERE id = $1`, uuidOf(c.t, id))
	waits := b.open("/inbox?after=" + before).links(path)
	if card.status != http.StatusOK {
		if waits {
			c.t.Errorf("%s is refused %s, and has it in the inbox", name, id)
		}
		return "", false, false
	}
	offered := ""
	for verb, action := range map[string]string{"c": "confirm", "a": "approve", "r": "reject", "d": "disapprove", "w": "withdraw", "e": "extend"} {
		if card.form(path+"/"+action) != nil {
			offered += verb
		}
	}
	if card.links(path + "/revise") {
		offered += "v"
	}
	return inOrder(offered), waits, true
}

func TestTheMatrixThroughTheConsole(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	door := throughTheConsole{s, map[string]*console{"maria": s.console("maria@harbor.example"), "jonas": s.console("jonas@harbor.example")}}
	for _, email := range people {
		name, _, _ := strings.Cut(email, "@")
		door.browsers[name] = s.console(email)
	}
	walk(t, s, door, matrix, allVerbs)
}
