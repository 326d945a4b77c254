package critical

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// TestAttached: if ranks were attached to, the path goes from the first to the last call at which
// all of them met. Before and after, ranks that were not seen may have been on the path.
func TestAttached(t *testing.T) {
	meet := func(site int, start, end uint64) match.Call {
		return match.Call{Op: op("Barrier"), Start: start, End: end, To: mpi.NoPeer, From: mpi.NoPeer, Site: site}
	}
	for _, c := range []struct {
		attached       bool
		length, before int64 // before the second barrier, at rank 1
		phases         int
	}{{false, 206, 135, 4}, {true, 195, 135, 2}} {
		logs := logsOf([]match.Call{meet(0, 0, 16), meet(1, 100, 160), meet(2, 200, 210)}, []match.Call{meet(0, 5, 15), meet(1, 150, 155), meet(2, 180, 211)})
		for _, l := range logs {
			l.Attached, l.Comms[0].Old, l.Start.Known = c.attached, c.attached, c.attached
		}
		p := New(logs, func(_, site int) int { return site })
		reader.RunWith(logs, nil, p)
		r, sum := p.Finish(), int64(0)
		for _, x := range r.Times {
			sum += x.Path
		}
		if r.Length != c.length || sum+r.Unknown != c.length || r.Unknown != 0 || r.Phases != c.phases || r.Times[Place{1, 1, false}].Path != c.before {
			t.Errorf("attached %t: %+v, of which %d at places", c.attached, r, sum)
		}
	}
	alone := logsOf([]match.Call{meet(0, 0, 16)}, []match.Call{meet(0, 5, 15)})
	for _, l := range alone {
		l.Attached, l.Comms[0].Old, l.Start.Known = true, true, true
	}
	p := New(alone, func(_, site int) int { return site })
	reader.RunWith(alone, nil, p)
	if r := p.Finish(); r.Length != 0 || len(r.Times) != 0 {
		t.Errorf("the ranks met once: %+v", r)
	}
}
