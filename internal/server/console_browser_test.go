package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// console is somebody signed in to the console in a browser that runs no script.
type console struct {
	*client
	cookie string
}

func (w *world) console(email string) *console {
	w.t.Helper()
	return &console{client: w.as(""), cookie: w.browser(email)}
}

// on is the same browser at another server.
func (c *console) on(url string) *console {
	return &console{client: &client{w: c.w, url: url}, cookie: c.cookie}
}

// sheet is a page as it arrived.
type sheet struct {
	t      testing.TB
	path   string
	status int
	doc    *html.Node
}

func (c *console) open(path string) *sheet {
	c.w.t.Helper()
	return c.read(path, c.send(http.MethodGet, path, "", c.cookie))
}

func (c *console) read(path string, s sent) *sheet {
	c.w.t.Helper()
	doc, err := html.Parse(strings.NewReader(s.body))
	if err != nil {
		c.w.t.Fatal(err)
	}
	return &sheet{t: c.w.t, path: path, status: s.status, doc: doc}
}

// submit sends a form and gives what came back, where it leads to another page that one.
func (c *console) submit(path string, form url.Values) *sheet {
	c.w.t.Helper()
	s := c.send(http.MethodPost, path, form.Encode(), c.cookie, "Origin: "+c.url, "Sec-Fetch-Site: same-origin", "Content-Type: application/x-www-form-urlencoded")
	if to := s.header.Get("Location"); s.status == http.StatusSeeOther {
		to, _, _ = strings.Cut(to, "#")
		return c.open(to)
	}
	return c.read(path, s)
}

// press sends the form with this action as it stands on the page, with some of its fields filled in.
func (c *console) press(on *sheet, action string, filled ...string) *sheet {
	c.w.t.Helper()
	form := on.form(action)
	if form == nil {
		c.w.t.Fatalf("%s has no form to %s:\n%s", on.path, action, on.text())
	}
	for i := 0; i < len(filled); i += 2 {
		form.Set(filled[i], filled[i+1])
	}
	return c.submit(action, form)
}

// decide opens a card and presses one of its buttons.
func (c *console) decide(id, verb string, filled ...string) *sheet {
	c.w.t.Helper()
	return c.press(c.open("/proposals/"+id), "/proposals/"+id+"/"+verb, filled...)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// form is what a press on the button of the first form with this action would send; nil where there is none.
func (p *sheet) form(action string) url.Values {
	for n := range p.doc.Descendants() {
		if n.Data != "form" || attribute(n, "action") != action {
			continue
		}
		values := url.Values{}
		for field := range n.Descendants() {
			switch {
			case field.Data == "input" && attribute(field, "type") != "checkbox":
				values.Add(attribute(field, "name"), attribute(field, "value"))
			case field.Data == "textarea":
				values.Add(attribute(field, "name"), textOf(field))
			}
		}
		return values
	}
	return nil
}

// links tells whether there is a link to an address.
func (p *sheet) links(href string) bool {
	for n := range p.doc.Descendants() {
		if n.Data == "a" && attribute(n, "href") == href {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.Data != "script" && d.Parent.Data != "style" {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// text is what one reads.
func (p *sheet) text() string { return strings.Join(strings.Fields(textOf(p.doc)), " ") }

func (p *sheet) says(words ...string) *sheet {
	p.t.Helper()
	for _, one := range words {
		if !strings.Contains(p.text(), one) {
			p.t.Errorf("%s (%d) does not say %q:\n%s", p.path, p.status, one, p.text())
		}
	}
	return p
}

func (p *sheet) saysNot(words ...string) *sheet {
	p.t.Helper()
	for _, one := range words {
		if strings.Contains(p.text(), one) {
			p.t.Errorf("%s says %q:\n%s", p.path, one, p.text())
		}
	}
	return p
}

// is checks the status.
func (p *sheet) is(status int) *sheet {
	p.t.Helper()
	if p.status != status {
		p.t.Errorf("%s answered %d, want %d:\n%s", p.path, p.status, status, p.text())
	}
	return p
}

// htmlOf is a page as it is written.
func htmlOf(p *sheet) string {
	var b strings.Builder
	if err := html.Render(&b, p.doc); err != nil {
		p.t.Error(err)
	}
	return b.String()
}
