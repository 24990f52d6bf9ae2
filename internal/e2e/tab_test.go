package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/internal/demo"
)

// patience is how long a page may take to become what it should, on a busy machine.
const patience = 30 * time.Second

// way is how a tab is used: with JavaScript or without.
type way bool

const (
	withScript    way = true
	withoutScript way = false
)

// tab is one tab of somebody's browser. Each person has cookies of their own.
type tab struct {
	t       testing.TB
	w       *world
	ctx     context.Context
	way     way
	against *complaints
}

// stranger opens a browser in which nobody is signed in.
func (w *world) stranger(way way) *tab {
	w.t.Helper()
	return w.open(browser(w.t), way, chromedp.WithNewBrowserContext())
}

// person opens a browser and signs somebody in.
func (w *world) person(email string, way way) *tab {
	w.t.Helper()
	b := w.stranger(way)
	b.open("/sign-in")
	b.signIn(email, demo.Password, 200)
	b.sees("#top", "Inbox")
	return b
}

// another opens a second tab of the same browser.
func (b *tab) another() *tab {
	b.t.Helper()
	return b.w.open(b.ctx, b.way)
}

func (w *world) open(parent context.Context, way way, options ...chromedp.ContextOption) *tab {
	w.t.Helper()
	b := &tab{t: w.t, w: w, way: way, against: &complaints{home: w.url, news: make(chan struct{}, 1)}}
	ctx, end := chromedp.NewContext(parent, append(options, chromedp.WithListener(b.against.hear), chromedp.WithListener(b.dismiss))...)
	b.ctx = ctx
	w.t.Cleanup(func() {
		for _, one := range b.against.all() {
			w.t.Errorf("the browser complains: %s", one)
		}
		end()
	})
	// The first call opens the tab, and is not to be cut short.
	if err := chromedp.Do(ctx, call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: way == withoutScript}),
		chromedp.EmulateViewport(looks[0].width, looks[0].height)); err != nil {
		w.t.Fatal(err)
	}
	return b
}

// call is a command of the browser's protocol as a step.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// dismiss closes a dialog, which no page has, so that what comes after it can be looked at.
func (b *tab) dismiss(event any) {
	if _, is := event.(*page.EventJavascriptDialogOpening); is {
		go func() { _ = chromedp.Do(b.ctx, call(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})) }()
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.fail("%v", err)
	}
}

// ask evaluates an expression in the page.
func ask[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.fail("%s: %v", expression, err)
	}
	return value
}
