package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
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
	b := &tab{t: w.t, w: w, way: way, against: &complaints{home: w.url}}
	ctx, close := chromedp.NewContext(parent, append(options, chromedp.WithListener(b.against.hear), chromedp.WithListener(b.dismiss))...)
	b.ctx = ctx
	w.t.Cleanup(func() {
		for _, one := range b.against.all() {
			w.t.Errorf("the browser complains: %s", one)
		}
		close()
	})
	// The first call opens the tab, and is not to be cut short.
	if err := chromedp.Do(ctx, call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: way == withoutScript})); err != nil {
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

// open asks for a page by its address.
func (b *tab) open(path string) {
	b.t.Helper()
	b.refused(path, 200)
}

// refused asks for a page and wants this status.
func (b *tab) refused(path string, status int) {
	b.t.Helper()
	b.against.expect(status)
	b.arrives(status, chromedp.NavigateResponse(b.w.url+path))
}

func (b *tab) arrives(status int, going chromedp.Action[*network.Response]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	response, err := chromedp.Run(ctx, going)
	if err != nil {
		b.fail("%v", err)
	}
	if response.Status != int64(status) {
		b.fail("%s answered %d, want %d", response.URL, response.Status, status)
	}
}

// click clicks something that leads nowhere.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// press clicks something that leads on. Without JavaScript, that is another page each time.
func (b *tab) press(selector string) {
	b.t.Helper()
	b.pressed(selector, 200)
}

// pressed clicks something that the server answers with this status.
func (b *tab) pressed(selector string, status int) {
	b.t.Helper()
	b.against.expect(status)
	if b.way == withScript {
		b.click(selector)
		return
	}
	b.arrives(status, func(ctx context.Context, t *chromedp.Target) (*network.Response, error) {
		return chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector)))
	})
}

// write puts a text into a field, as one that was pasted.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS(selector)), chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`), call(input.InsertText, input.InsertTextParams{Text: text}))
}

// signIn fills in the form that is on screen, and wants this status.
func (b *tab) signIn(email, password string, status int) {
	b.t.Helper()
	b.write("#email", email)
	b.write("#password", password)
	b.pressed(`form[action="/sign-in"] button`, status)
}

// sees waits until a part of the page says all of these words.
func (b *tab) sees(part string, words ...string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(text => %s.every(words => text.includes(words)))(%s)`, quoted(words), textOf(part)))
}

// seesNot wants none of these words in a part of the page as it is.
func (b *tab) seesNot(part string, words ...string) {
	b.t.Helper()
	text := ask[string](b, textOf(part))
	for _, one := range words {
		if strings.Contains(text, one) {
			b.t.Errorf("%s says %q:\n%s", part, one, text)
		}
	}
}

// lacks wants none of these to be on the page.
func (b *tab) lacks(selectors ...string) {
	b.t.Helper()
	for _, one := range selectors {
		b.until(fmt.Sprintf(`!document.querySelector(%s)`, quoted(one)))
	}
}

// focused waits until the focus is somewhere within a part of the page, where one uses it with a script: a
// page that is loaded anew begins at its top.
func (b *tab) focused(part string) {
	b.t.Helper()
	if b.way == withScript {
		b.until(fmt.Sprintf(`document.activeElement?.closest(%s)`, quoted(part)))
	}
}

// back goes back a page, as one does with the browser's button.
func (b *tab) back() {
	b.t.Helper()
	here := ask[string](b, `location.href`)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	entries, err := chromedp.Run(ctx, chromedp.NavigationEntries())
	if err != nil || entries.CurrentIndex == 0 {
		b.fail("there is no way back: %v", err)
	}
	b.do(call(page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: entries.Entries[entries.CurrentIndex-1].ID}))
	for ctx.Err() == nil {
		if gone, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && location.href !== `+quoted(here))); err == nil && gone {
			return
		}
	}
	b.fail("it went nowhere")
}

// at waits until the address is this one.
func (b *tab) at(path string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`location.pathname === %s`, quoted(path)))
}

// textOf is what one reads in a part of the page, its blanks as one.
func textOf(part string) string {
	return fmt.Sprintf(`(document.querySelector(%s)?.innerText ?? "").replace(/\s+/g, " ").trim()`, quoted(part))
}

func quoted(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// watch is a promise that an expression is true, looked at whenever the page changes; false after a second.
const watch = `new Promise(done => {
	const look = () => { let held = false; try { held = !!(%s) } catch {} if (held) over(true) };
	const watcher = new MutationObserver(look), timer = setInterval(look, 50), end = setTimeout(() => over(false), 1000);
	const over = held => { watcher.disconnect(); clearInterval(timer); clearTimeout(end); done(held) };
	watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	look();
})`

// until waits for an expression to be true, however often the page becomes another meanwhile. Without
// JavaScript a page is what it is.
func (b *tab) until(expression string) {
	b.t.Helper()
	if b.way == withoutScript {
		if !ask[bool](b, "!!("+expression+")") {
			b.fail("it is not so: %s", expression)
		}
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		if held, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(watch, expression), chromedp.EvalAwaitPromise)); err == nil && held {
			return
		}
	}
	b.fail("it never became so: %s", expression)
}

// fail ends the test with what is on screen.
func (b *tab) fail(format string, args ...any) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	where, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body?.innerText`))
	b.picture("failed-" + strings.ReplaceAll(b.t.Name(), "/", "-"))
	b.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), where)
}

// artefacts names the directory in which pictures are kept.
const artefacts = "COUNTERSIGN_ARTEFACTS"

// picture keeps the page as a picture, where a directory is named for it.
func (b *tab) picture(name string) {
	b.t.Helper()
	directory := os.Getenv(artefacts)
	if directory == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = errors.Join(os.MkdirAll(directory, 0o755), os.WriteFile(filepath.Join(directory, name+".png"), picture, 0o644))
	}
	if err != nil {
		b.t.Errorf("no picture of %s was kept: %v", name, err)
	}
}
