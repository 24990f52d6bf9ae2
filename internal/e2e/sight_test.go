package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

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
