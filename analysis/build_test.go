package analysis

import (
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/event"
)

// span sets time and, for the tests that look at them, counts.
func span(t int64, c uint64) attribution.Span { return attribution.Span{T: t, C: c} }

// profileOf builds a profile from threads (root, num), regions by construct,
// and nodes (parent, region, stats) below the root.
func profileOf(t testing.TB, duration int64, threads [][2]int, constructs []event.Construct, nodes []attribution.Node) *attribution.Profile {
	t.Helper()
	p := &attribution.Profile{Meta: attribution.Meta{Duration: duration},
		Nodes: append([]attribution.Node{{Parent: -1, Region: -1}}, nodes...)}
	for _, th := range threads {
		p.Threads = append(p.Threads, attribution.Thread{Root: th[0], Num: th[1]})
	}
	for _, c := range constructs {
		p.Regions = append(p.Regions, attribution.Region{Construct: c})
	}
	if err := attribution.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p
}

type stats = attribution.ThreadStats

var two = [][2]int{{0, 0}, {0, 1}}
