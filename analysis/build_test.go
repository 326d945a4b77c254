package analysis

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// span sets time and, for the tests that look at them, counts.
func span(t int64, c uint64) profile.Sum { return profile.Sum{T: t, C: c} }

// profileOf builds a profile from threads (root, num), regions by construct,
// and nodes (parent, region, stats) below the root.
func profileOf(t testing.TB, duration int64, threads [][2]int, constructs []event.Construct, nodes []profile.Node) *profile.Profile {
	t.Helper()
	p := &profile.Profile{Meta: profile.Meta{Life: profile.Life{Duration: duration}},
		Nodes: append([]profile.Node{{Parent: -1, Region: -1}}, nodes...)}
	for _, th := range threads {
		p.Threads = append(p.Threads, profile.Thread{Root: th[0], Num: th[1]})
	}
	for _, c := range constructs {
		p.Regions = append(p.Regions, profile.Region{Construct: c})
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p
}

type stats = profile.ThreadStats

var two = [][2]int{{0, 0}, {0, 1}}
