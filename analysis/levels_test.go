package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

func TestLevels(t *testing.T) {
	stat := func(thread int, t, child int64, c uint64) profile.ThreadStats {
		s := profile.ThreadStats{Thread: thread, Child: child}
		s.Exec = profile.Sum{T: t, C: c}
		return s
	}
	p := &profile.Profile{
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.UserRegion, Level: "scalapack"}, {Construct: event.UserRegion, Level: "blacs"},
			{Construct: event.MPI, Name: "MPI_Send"}, {Construct: event.UserRegion, Name: "phase"}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 4}, {Parent: 1, Region: 1}, {Parent: 2, Region: 2}, {Parent: 3, Region: 3},
			{Parent: 2, Region: 1}, {Parent: 0, Region: 0}},
	}
	p.Nodes[1].Stats = []profile.ThreadStats{stat(0, 1000, 700, 1)} // phase
	p.Nodes[2].Stats = []profile.ThreadStats{stat(0, 700, 450, 2)}  // scalapack
	p.Nodes[3].Stats = []profile.ThreadStats{stat(0, 400, 300, 4)}  // blacs in it
	p.Nodes[4].Stats = []profile.ThreadStats{stat(0, 300, 0, 8)}    // MPI in that
	p.Nodes[5].Stats = []profile.ThreadStats{stat(0, 50, 0, 3)}     // scalapack in scalapack
	p.Nodes[6].Stats = []profile.ThreadStats{stat(0, 70, 0, 1), stat(1, 60, 0, 1)}
	// Their regions have been taken out.
	p.Nodes[6].Stats[1].Calls = &profile.MPIStats{T: 10, Calls: 5}
	p.Nodes[6].Stats[0].Estimate = &profile.Estimate{}
	want := []Level{{"MPI", 13, 310, false}, {"scalapack", 5, 300, false}, {"user regions", 1, 300, false}, {"OpenMP", 2, 120, true}, {"blacs", 4, 100, false}}
	if d := cmp.Diff(want, Levels(p)); d != "" {
		t.Error(d)
	}
	if !HasLevels(p) || HasLevels(&profile.Profile{Regions: p.Regions[3:]}) {
		t.Error("whether libraries were measured is wrong")
	}
}
