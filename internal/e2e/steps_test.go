package e2e

import (
	"context"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// open asks for a page by its address.
func (b *tab) open(path string) {
	b.t.Helper()
	b.refused(path, 200)
}

// refused asks for a page and wants this status.
func (b *tab) refused(path string, status int) {
	b.t.Helper()
	b.against.expect(status)
	b.arrives(status, func(ctx context.Context, on *chromedp.Target) (response *network.Response, err error) {
		for response == nil && err == nil { // there is none where another navigation came between: then this one is begun anew
			response, err = chromedp.NavigateResponse(b.w.url+path)(ctx, on)
		}
		return response, err
	})
}

func (b *tab) arrives(status int, going chromedp.Action[*network.Response]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	response, err := chromedp.Run(ctx, going)
	if err != nil {
		b.fail("%v", err)
	}
	if response == nil {
		b.fail("nothing was answered")
	}
	if response.Status != int64(status) {
		b.fail("%s answered %d, want %d", response.URL, response.Status, status)
	}
}

// click clicks something that leads nowhere. It waits for the page to stand still first.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.until(`document.readyState === "complete" && !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")`)
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
	b.arrives(status, func(ctx context.Context, _ *chromedp.Target) (*network.Response, error) {
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
