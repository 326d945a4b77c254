package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// photographs is a variable of the environment. It names a directory in which photographs are kept.
const photographs = "PHOTOGRAPHS"

// browser is a tab of a headless browser. It notes the errors of pages, and all that they load.
type browser struct {
	ctx   context.Context
	local string // a server of the test, from which pages may load

	mu    sync.Mutex
	wrong []string
	loads []string
}

// chromium is the browser of all tests, started by the first one that needs it; stop ends it.
var chromium struct {
	once sync.Once
	ctx  context.Context // nil: this machine has no browser
	err  error
	stop func()
}

func TestMain(m *testing.M) {
	status := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(status)
}

func startChromium() {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(60*time.Second))
		all, stop := chromedp.NewExecAllocator(context.Background(), options...)
		chromium.ctx, _ = chromedp.NewContext(all) // stop ends it, too
		chromium.stop = stop
		chromium.err = chromedp.Run(chromium.ctx)
		return
	}
}

// openBrowser opens a tab for the test in the browser.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	chromium.once.Do(startChromium)
	if chromium.ctx == nil {
		t.Skip("no chromium here: pages are not opened in a browser")
	}
	if chromium.err != nil {
		t.Fatalf("chromium does not start: %v", chromium.err)
	}
	ctx, closeTab := chromedp.NewContext(chromium.ctx)
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(func() { cancel(); closeTab() })
	b := &browser{ctx: ctx}
	chromedp.ListenTarget(ctx, b.hear)
	if err := chromedp.Run(ctx, network.Enable(), log.Enable(), runtime.Enable()); err != nil {
		t.Fatalf("chromium opens no tab: %v", err)
	}
	return b
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.wrong = append(b.wrong, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		b.wrong = append(b.wrong, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, "file://") && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") && (b.local == "" || !strings.HasPrefix(u, "http://"+b.local+"/")) {
			b.loads = append(b.loads, u)
		}
	}
}

// run performs actions, and fails the test if one of them fails, or if the page has an error or
// loads anything.
func (b *browser) run(t *testing.T, what string, actions ...chromedp.Action) {
	t.Helper()
	// After the time limit the test can say which action hangs.
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.wrong) > 0 || len(b.loads) > 0 {
		t.Errorf("%s: complaints %q, loads %q", what, b.wrong, b.loads)
		b.wrong, b.loads = nil, nil
	}
}

// show opens a page and waits until it is drawn.
func (b *browser) show(t *testing.T, file string, width int64, scheme string) {
	t.Helper()
	b.run(t, "open "+filepath.Base(file), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+file), chromedp.WaitReady(`html[data-ready="true"]`, chromedp.ByQuery))
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, b *browser, expression string) (v T) {
	t.Helper()
	b.run(t, expression, chromedp.Evaluate(expression, &v))
	return v
}

// photograph takes a picture of the whole page. Pictures that show nothing are an error.
func (b *browser) photograph(t *testing.T, name string) {
	t.Helper()
	var shot []byte
	dir := os.Getenv(photographs)
	b.run(t, "photograph", chromedp.ActionFunc(func(ctx context.Context) (err error) {
		// Without this option Chromium spends most of the time on making the file small.
		camera := page.CaptureScreenshot().WithCaptureBeyondViewport(true).WithOptimizeForSpeed(true)
		if dir == "" { // Nobody looks at the picture. A small one takes a third of the time.
			_, _, _, _, _, size, err := page.GetLayoutMetrics().Do(ctx)
			if err != nil {
				return err
			}
			camera = camera.WithClip(&page.Viewport{Width: size.Width, Height: size.Height, Scale: 0.25})
		}
		// Under load, Chromium has left a request unanswered for minutes. A second request may be
		// answered. Both fit into the time limit of run.
		for _, patience := range []time.Duration{70 * time.Second, 40 * time.Second} {
			once, cancel := context.WithTimeout(ctx, patience)
			shot, err = camera.Do(once)
			if cancel(); !errors.Is(err, context.DeadlineExceeded) {
				break
			}
		}
		return err
	}))
	const least = 0.05 // the emptiest view, of pprof, has 0.08
	if n := drawn(t, shot); n < least {
		t.Errorf("%s: a photograph that shows something on %.2f %% of its area", name, 100*n)
	}
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o644); err != nil {
		t.Fatal(err)
	}
}

// drawn returns the part of a picture's area with another colour than the background, 0 to 1.
func drawn(t *testing.T, file []byte) float64 {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	all, most := 0, 0
	found := map[color.Color]int{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			c := picture.At(x, y)
			all, found[c] = all+1, found[c]+1
			most = max(most, found[c])
		}
	}
	return 1 - float64(most)/float64(all)
}

// openAll opens everything that can be opened: rows, numbers.
const openAll = `(() => {
	document.querySelectorAll("details.numbers").forEach((d) => { d.open = true; });
	document.querySelector("#regions .rowbutton")?.click();
})()`

// look photographs a page: a light page as it opens, a dark page with everything opened. Other
// combinations are not needed: colours do not depend on what is open, nor the layout on colours.
func (b *browser) look(t *testing.T, name, file string, width int64, scheme string) {
	t.Helper()
	b.show(t, file, width, scheme)
	if scheme == "light" {
		b.photograph(t, fmt.Sprintf("%s-%d-%s", name, width, scheme))
	}
	ask[any](t, b, openAll)
	if scheme == "dark" {
		b.photograph(t, fmt.Sprintf("%s-%d-%s-open", name, width, scheme))
	}
	if over := ask[int](t, b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("%s is %d pixels wider than the window of %d", name, over, width)
	}
}

// looks calls show for wide and narrow windows, in light and dark. In short tests it calls show for
// a narrow dark window only.
func looks(show func(width int64, scheme string)) {
	for _, width := range []int64{1400, 800} {
		for _, scheme := range []string{"light", "dark"} {
			if !testing.Short() || width == 800 && scheme == "dark" {
				show(width, scheme)
			}
		}
	}
}
