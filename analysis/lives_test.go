package analysis

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Shares are shares of the time that threads lived.
func TestSharesAreOfTheTimeLived(t *testing.T) {
	p := profileOf(t, 1000, [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []event.Construct{event.Parallel}, []profile.Node{{Parent: 0, Region: 0,
		Stats: []stats{{Thread: 2, Exec: span(400, 50), Body: span(300, 50), Barrier: span(100, 50)}, {Thread: 3, Exec: span(400, 50), Body: span(400, 50)}}}})
	if got := ThreadTime(p); got != 4000 {
		t.Errorf("without lives: %d", got)
	}
	p.Threads[2].Lived, p.Threads[2].Joined = 500, 50
	if got := ThreadTime(p); got != 2*1000+2*500 {
		t.Errorf("two threads of 1000 and 50 pairs of 500 in all: %d", got)
	}
	if got := Threads(p); got != 2+2*50 {
		t.Errorf("%d threads", got)
	}
	if got := Roots(p); got != 51 {
		t.Errorf("%d initial threads", got)
	}
	if c := ParallelCoverage(p); c.Wall != 400 || c.Of != 1500 {
		t.Errorf("coverage %+v", c)
	}
	if s := SerialTimes(p); len(s) != 2 || s[0].Time != 1000 || s[1].Time != 100 {
		t.Errorf("outside of regions: %+v", s)
	}
}
