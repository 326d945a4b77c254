package analysis

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// TestIdle: of 10 s with three threads, a team of three works for 4 s. The initial thread is in
// serial code for the other 6 s, and two workers have nothing to do.
func TestIdle(t *testing.T) {
	const sec = int64(1e9)
	p := &profile.Profile{Meta: profile.Meta{Life: profile.Life{Duration: 10 * sec}},
		Regions: []profile.Region{{Construct: event.Parallel}},
		Nodes:   []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0}}}
	for i := range 3 {
		p.Threads = append(p.Threads, profile.Thread{Num: i})
		p.Nodes[1].Stats = append(p.Nodes[1].Stats, profile.ThreadStats{Thread: i, Exec: profile.Sum{T: 4 * sec, C: 1}})
	}
	if serial, idle := SerialTime(p), Idle(p); serial != 6*sec || idle != 12*sec {
		t.Errorf("serial %d, idle %d, want 6 s and 12 s", serial, idle)
	}
	// One thread's team: the others are idle for all of the time.
	p.Nodes[1].Stats = p.Nodes[1].Stats[:1]
	if serial, idle := SerialTime(p), Idle(p); serial != 6*sec || idle != 20*sec {
		t.Errorf("serial %d, idle %d, want 6 s and 20 s", serial, idle)
	}
}
