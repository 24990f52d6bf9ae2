package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// complaints is what a browser has to say against the pages of a tab: errors of scripts, what the policy
// kept out, dialogs, and requests to anyone else. There are none, but for the statuses a test expects.
type complaints struct {
	home     string
	news     chan struct{}
	mu       sync.Mutex
	list     []string
	expected []int
	cutOff   bool // a test cuts connections, which the browser will mention
}

// hear is told everything that happens in the tab.
func (c *complaints) hear(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			c.add("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if slices.Contains([]string{"error", "warning", "assert"}, string(e.Type)) {
			c.add("console.%s: %s", e.Type, said(e.Args))
		}
	case *runtime.EventExceptionThrown:
		c.add("exception: %s %s", e.ExceptionDetails.Text, said([]*runtime.RemoteObject{e.ExceptionDetails.Exception}))
	case *page.EventJavascriptDialogOpening:
		c.add("a dialog opened: %s", e.Message)
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, c.home+"/") && !strings.HasPrefix(url, "data:") {
			c.add("asked somebody else: %s", url)
		}
	}
}

func said(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		if a != nil {
			words = append(words, a.Description+string(a.Value))
		}
	}
	return strings.Join(words, " ")
}

func (c *complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf(format, args...))
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// expect says that the server is going to refuse something, which the browser will mention.
func (c *complaints) expect(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expected = append(c.expected, status)
}

// all are those that nobody expected.
func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.list), func(one string) bool {
		return c.cutOff && strings.Contains(one, "Failed to load resource: net::ERR_") || slices.ContainsFunc(c.expected, func(status int) bool {
			return strings.Contains(one, fmt.Sprintf("status of %d", status)) || strings.Contains(one, fmt.Sprintf("Status Error Code %d", status))
		})
	})
}

// await waits until one of them says this, and forgets them all.
func (c *complaints) await(t *testing.T, want string) {
	t.Helper()
	for deadline := time.After(patience); !strings.Contains(strings.Join(c.all(), "\n"), want); {
		select {
		case <-c.news:
		case <-deadline:
			t.Fatalf("nobody complained of %s: %q", want, c.all())
		}
	}
	c.forget()
}

func (c *complaints) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = nil
}
