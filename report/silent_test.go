package report

import (
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
	"ompp-attach/severity"
)

// Of a process in which nobody saw anything, no share of the time is claimed. A program that was
// launched and has no region was serial.
func TestSilent(t *testing.T) {
	for _, attached := range []bool{true, false} {
		p := reporttest.PlainProfile()
		p.Meta.Attached, p.Meta.Hits = attached, 0
		p.Nodes, p.Regions, p.Samples, p.Frames = p.Nodes[:1], nil, nil, nil
		p.Threads = []profile.Thread{{}, {Root: 1}} // samples found the second one
		if got := severity.Of(p, severity.Options{}).CannotTell(); strings.Contains(got, analysis.SilentText) != attached {
			t.Errorf("attached: %t: of properties it is said: %q", attached, got)
		}
		for what, text := range map[string]string{"summary": summaryOf(t, p), "ompp": written(t, "ompp", p, Options{})} {
			if got := strings.Contains(text, analysis.SilentText); got != attached {
				t.Errorf("attached: %t: the %s says that nothing is known: %t\n%s", attached, what, got, text)
			}
			if got := strings.Contains(text, "start teams of their own"); what == "ompp" && got == attached {
				t.Errorf("attached: %t: the report knows who starts teams: %t", attached, got)
			}
			if got := strings.Contains(text, "= serial work") || strings.Contains(text, "time was useful"); got == attached {
				t.Errorf("attached: %t: the %s claims useful time: %t\n%s", attached, what, got, text)
			}
		}
	}
}

// Of a process in which nothing of OpenMP was seen, no share of the time is said to be parallel.
// One region of OpenMP is enough.
func TestNoOpenMP(t *testing.T) {
	for name, x := range map[string]struct {
		construct      event.Construct
		attached, says bool
	}{
		"MPI": {event.MPI, false, true}, "MPI, attached": {event.MPI, true, true}, "user region": {event.UserRegion, false, true},
		"lock": {event.Lock, false, false}, "parallel": {event.Parallel, false, false}, "not known": {event.Unknown, true, false},
	} {
		p := reporttest.PlainProfile()
		p.Meta.Attached, p.Meta.Hits = x.attached, 1
		p.Nodes, p.Regions, p.Samples, p.Frames = p.Nodes[:1], []profile.Region{{Construct: x.construct, Name: "MPI_Send"}}, nil, nil
		for what, text := range map[string]string{"summary": summaryOf(t, p), "ompp": written(t, "ompp", p, Options{})} {
			if got := strings.Contains(text, "nothing of OpenMP was seen"); got != x.says {
				t.Errorf("%s: the %s says that nothing was seen: %t\n%s", name, what, got, text)
			}
			if got := strings.Contains(text, "not known: nothing of OpenMP"); got != (x.says && x.attached) {
				t.Errorf("%s: the %s says that it is not known: %t", name, what, got)
			}
			if what == "ompp" && strings.Contains(text, "coverage           : 0.") == x.says || x.says && strings.Contains(text, "in 0 parallel") {
				t.Errorf("%s: the %s has a share\n%s", name, what, text)
			}
		}
		if text := written(t, "ompp", p, Options{Classic: true}); !strings.Contains(text, "Parallel coverage           : 0.00") {
			t.Errorf("%s: not as ompP prints it:\n%s", name, text)
		}
	}
}
