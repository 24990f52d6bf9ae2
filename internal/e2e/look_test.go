package e2e

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe-core 4.14.1 of the npm registry, under the Mozilla Public License 2.0: see its first lines.
//
//go:embed testdata/axe-4.14.1.min.js
var axe string

func TestAxeIsTheOneTested(t *testing.T) {
	const want = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
	if sum := sha256.Sum256([]byte(axe)); hex.EncodeToString(sum[:]) != want {
		t.Errorf("axe is another one: %x", sum)
	}
}

// looks are how people look at a page.
var looks = []struct {
	scheme string
	width  int64
	height int64
}{
	{"light", 1280, 800}, {"dark", 1280, 800}, {"dark", 375, 812}, {"light", 375, 812},
}

// look looks at the page on screen in every way: nobody is kept from reading it, nothing hangs over its
// edge, and it is kept as a picture.
func (b *tab) look(name string) {
	b.t.Helper()
	if strings.Contains(ask[string](b, `document.documentElement.textContent`), "{{") {
		b.t.Errorf("%s: a page prints an expression", name)
	}
	b.pictures(name, b.accessible)
}

// pictures shows the page in every way, and has it checked in each.
func (b *tab) pictures(name string, check func(which string)) {
	b.t.Helper()
	for _, one := range looks {
		b.do(
			call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: one.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}),
			chromedp.EmulateViewport(one.width, one.height))
		b.until(fmt.Sprintf(`innerWidth === %d && matchMedia("(prefers-color-scheme: %s)").matches`, one.width, one.scheme))
		which := name + "-" + one.scheme + "-" + strconv.FormatInt(one.width, 10)
		if over := ask[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			b.t.Errorf("%s hangs over by %d pixels", which, over)
		}
		check(which)
		if os.Getenv(artefacts) != "" {
			b.picture(which)
		}
	}
	b.do(chromedp.EmulateViewport(looks[0].width, looks[0].height))
}

// accessible wants nothing serious or critical of axe.
func (b *tab) accessible(which string) {
	b.t.Helper()
	if !ask[bool](b, `"axe" in window`) {
		ask[any](b, axe+"; null")
	}
	found := ask[[]string](b, `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations
		.filter(v => ["serious", "critical"].includes(v.impact))
		.map(v => v.id + ": " + v.help + "\n" + v.nodes.map(n => "  " + n.target + "  " + n.failureSummary).join("\n")))`)
	for _, one := range found {
		b.t.Errorf("%s: %s", which, one)
	}
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
