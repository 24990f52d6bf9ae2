package e2e

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m, quit) }

// chromium is the one browser of the package's run, started when the first test asks. Its context has no
// deadline, since it is the browser's life.
var chromium = sync.OnceValues(launch)

var errNoChromium = errors.New("these tests need Chromium, which make test installs: apt-get install -y --no-install-recommends chromium")

func launch() (context.Context, error) {
	path, err := find("chromium", "chromium-browser", "google-chrome")
	if err != nil {
		return nil, err
	}
	// The profile is a new directory, which goes with the browser; as root it runs without its sandbox, and
	// on a machine without a network it asks for none.
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Env("TZ=UTC"))
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	running = ctx
	return ctx, chromedp.Do(ctx)
}

func find(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoChromium
}

var running context.Context

// quit closes the browser, where there is one, and takes its profile away.
func quit() {
	if running != nil {
		_ = chromedp.Cancel(running)
	}
}

// browser gives the package's browser, and fails the test where there is none.
func browser(t testing.TB) context.Context {
	t.Helper()
	ctx, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}
