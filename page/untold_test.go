package page

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/report"
	"ompp-attach/report/reporttest"
)

// If probes took most of the time, the page says why it has no efficiencies, with scripts and
// without.
func TestUntold(t *testing.T) {
	p := reporttest.Costly()
	p.Meta.UserTime = 2.5e9
	got := process(p, report.Options{})
	if got.Efficiency != nil || !strings.HasPrefix(got.Untold, "How well the program runs cannot be told: ") || len(got.Findings) > 0 {
		t.Errorf("%+v, %q, %+v", got.Efficiency, got.Untold, got.Findings)
	}
	if raw := process(p, report.Options{Raw: true}); raw.Efficiency == nil || raw.Untold != "" {
		t.Errorf("as measured: %+v, %q", raw.Efficiency, raw.Untold)
	}
	var out bytes.Buffer
	if err := WriteProcess(&out, p, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `<p class="banner">How well the program runs cannot be told`); n != 1 {
		t.Errorf("%d sentences without scripts", n)
	}
}
