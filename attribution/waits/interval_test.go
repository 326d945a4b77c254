package waits

import (
	"testing"

	"ompp-attach/attribution/tree"
)

// Of a thread that is in more regions between two barriers than are told apart, no region gets the
// time of another one.
func TestManyRegions(t *testing.T) {
	const regions = 3 * maxPaths
	m := &Meter{}
	tm := m.NewTeam(2)
	nodes := make([]tree.Node, regions)
	barrier := &tree.Node{}
	first, second := tm.Begin(nil, nil, 0, 1000), tm.Begin(nil, nil, 1, 1000)
	at := uint64(1000)
	for range 2 { // again, in another order
		for i := range nodes {
			at += uint64(i + 1)
			first.Note(&nodes[i], 0, i%2 == 1, at)
		}
		for i := range nodes {
			at += 10
			first.Note(&nodes[regions-1-i], 0, false, at)
		}
	}
	second.Note(&nodes[0], 1, false, 1000+500)
	m.Arrive(second, &Arrival{Barrier: barrier, From: &nodes[0], Seat: 1, At: 1500})
	m.Arrive(first, &Arrival{Barrier: barrier, From: &nodes[0], Seat: 0, At: at})
	m.Leave(first, at)
	m.Leave(second, at)
	known := 0
	for i := range nodes {
		if len(nodes[i].Stats) == 0 || nodes[i].Stats[0].Waits == nil || nodes[i].Stats[0].Waits.OnPath == 0 {
			continue
		}
		known++
		w, want := nodes[i].Stats[0].Waits, int64(2*(i+1)+20)
		if w.OnPath != want {
			t.Errorf("region %d: %d on the path, want %d", i, w.OnPath, want)
		}
		if i%2 == 0 && w.Delay > want {
			t.Errorf("region %d: a delay of %d in %d", i, w.Delay, want)
		}
	}
	if known != maxPaths-1 {
		t.Errorf("%d regions are told apart, want %d", known, maxPaths-1)
	}
	if in, out := barrier.Stats[1].Waits.Indirect, sumOf(nodes); in != out {
		t.Errorf("%d indirect, %d passed on", in, out)
	}
}

func sumOf(nodes []tree.Node) (passed int64) {
	for i := range nodes {
		for j := range nodes[i].Stats {
			if w := nodes[i].Stats[j].Waits; w != nil {
				passed += w.Passed
			}
		}
	}
	return passed
}
