package report

import (
	"strings"
	"testing"

	"ompp-attach/report/reporttest"
)

// Of a process in which nobody saw anything, no share of the time is claimed. A program that was
// launched and has no region was serial.
func TestSilent(t *testing.T) {
	for _, attached := range []bool{true, false} {
		p := reporttest.PlainProfile()
		p.Meta.Attached, p.Meta.Hits = attached, 0
		p.Nodes, p.Regions, p.Samples, p.Frames = p.Nodes[:1], nil, nil, nil
		for what, text := range map[string]string{"summary": summaryOf(t, p), "ompp": written(t, "ompp", p, Options{})} {
			if got := strings.Contains(text, silentText); got != attached {
				t.Errorf("attached: %t: the %s says that nothing is known: %t\n%s", attached, what, got, text)
			}
			if got := strings.Contains(text, "= serial work") || strings.Contains(text, "time was useful"); got == attached {
				t.Errorf("attached: %t: the %s claims useful time: %t\n%s", attached, what, got, text)
			}
		}
	}
}
