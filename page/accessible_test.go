package page

import (
	"io"
	"os"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ompp-attach/report"
)

// TestAccessible: axe finds no fault of contrast, names, order of headings or keyboard.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe here: npm --prefix page/web ci installs it")
	}
	b := openBrowser(t)
	p := withSource(t, solver())
	for name, file := range map[string]string{
		"process": save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, p, report.Options{}) }),
		"job":     saveJob(t, figure9Job(t)),
		"diff":    saveDifference(t, compared(t, 12)),
	} {
		for _, scheme := range []string{"light", "dark"} {
			b.show(t, file, 1400, scheme)
			ask[any](t, b, openAll)
			ask[any](t, b, string(axe)+";1")
			var complaints []string
			b.run(t, "axe", chromedp.Evaluate(`axe.run(document).then((r) => r.violations.map((v) => v.help + ": " + v.nodes[0].html.slice(0, 200)))`, &complaints,
				func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
			for _, c := range complaints {
				t.Errorf("%s, %s: %s", name, scheme, c)
			}
		}
	}
}
