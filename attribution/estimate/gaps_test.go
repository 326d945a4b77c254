package estimate

import (
	"testing"

	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// A construct that was observed, and not in the short period before a gap, was executed at least so
// often. A period that is long enough shows that the construct had ended.
func TestNothingSeenBeforeAGap(t *testing.T) {
	gap := stay{wall: 5e7, ran: 5e7, own: 5e7}
	long := rate{known: true}
	short := rate{known: true, doubt: [2]float64{1, 1}}
	for _, c := range []struct {
		name          string
		before, after rate
		observed      uint64
		atLeast       bool
	}{
		{"short", short, rate{}, 2000, true},
		{"no time", rate{}, rate{}, 2000, true},
		{"long, then nothing", long, rate{}, 2000, true},
		{"long", long, long, 2000, false},
		{"short, but never seen", short, rate{}, 0, false},
	} {
		all := tree.New(nil)
		n := &tree.Node{Key: place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.Task}}, Parent: all.Root}
		n.Stat(0).Exec.C = c.observed
		var e estimate
		e.add(gap, c.before, c.after)
		g := NewGaps(all)
		g.estimates[n] = []estimate{e}
		g.dropVague(0)
		got := n.Stat(0).Estimate != nil && n.Stat(0).Estimate.AtLeast
		if got != c.atLeast || got != (n.Flags&tree.AtLeast != 0) {
			t.Errorf("%s: at least: %v, want %v", c.name, got, c.atLeast)
		}
	}
}
