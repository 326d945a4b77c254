package e2e

import (
	"math"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// With --derive-edges, short and frequent regions, their loops and barriers cost at most 5.2 hits with
// two threads, where all that is measured costs 7.1. Counts are the same, and regions with derived ends say so.
func TestDerivedEnds(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "hydro.c", testbin.Options{Compiler: "gcc"})
	const steps = 2000
	measure := func(flags ...string) *profile.Profile {
		flags = append(flags, "--counters", "none", "--sample", "off")
		return clean(t, options{env: []string{"OMP_NUM_THREADS=2"}, flags: flags}, bin, "2000", "500").main
	}
	derived, exact := measure("--derive-edges"), measure()
	if e := exact.Meta.Edges; e.Derived != 0 {
		t.Errorf("%d ends of %d were derived, though nobody asked", e.Derived, e.All)
	}
	e := derived.Meta.Edges
	if share := float64(e.Derived) / float64(e.All); math.Abs(share-15.0/16) > 0.1 && !othersRan(derived) {
		t.Errorf("%d of %d ends were derived, want some 15 of 16", e.Derived, e.All)
	}
	for i, p := range []*profile.Profile{derived, exact} {
		executions, notes := uint64(0), 0
		for _, n := range p.Nodes {
			if n.Region < 0 || !p.Regions[n.Region].Construct.IsParallel() {
				continue
			}
			notes += len(p.Regions[n.Region].Notes)
			for j := range n.Stats {
				s := &n.Stats[j]
				if p.Threads[s.Thread].Num == 0 {
					executions += s.Exec.C
				}
				for _, part := range []profile.Span{s.Enter, s.Body, s.Barrier, s.Exit} {
					if part.C != s.Exec.C || part.T < 0 {
						t.Errorf("run %d: a part of %+v in %d executions", i, part, s.Exec.C)
					}
				}
			}
		}
		if executions != 30*steps {
			t.Errorf("run %d: %d regions, want %d", i, executions, 30*steps)
		}
		if (notes > 0) != (i == 0) {
			t.Errorf("run %d: %d notes", i, notes)
		}
	}
	if got := float64(derived.Meta.Hits) / (30 * steps); got > 5.2 && !othersRan(derived) {
		t.Errorf("%.2f hits per region, want at most 5.2", got)
	}
	if got := float64(exact.Meta.Hits) / (30 * steps); got < 7 {
		t.Errorf("%.2f hits per region where all is measured, want 7: the comparison shows nothing", got)
	}
}

// othersRan tells whether a program had no core for a while. Then its hits were rare, and more
// returns are armed.
func othersRan(p *profile.Profile) bool {
	return p.Meta.Duration > 2*(p.Meta.UserTime+p.Meta.SysTime)
}
