package e2e

import (
	"math"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// With --derive-edges, short and frequent regions, their loops and barriers cost fewer hits. Of
// libgomp with two threads they cost 4.75 at most, where all that is measured costs 6.6. Of libomp
// they cost 6.4, where it costs 7.3. Each derived end saves one hit. Counts are the same. Regions
// with derived ends say so, and how exact these are.
func TestDerivedEnds(t *testing.T) {
	atOnce(t)
	for _, c := range []struct {
		compiler string
		share    float64 // of the ends that are derived, at least
		most     float64 // hits per region with derived ends
		least    float64 // hits per region without
	}{{"gcc", 0.84, 4.75, 6.5}, {"clang-19", 0.75, 6.4, 7.2}} {
		t.Run(c.compiler, func(t *testing.T) { testDerivedEnds(t, c.compiler, c.share, c.most, c.least) })
	}
}

func testDerivedEnds(t *testing.T, compiler string, share, most, least float64) {
	bin := testbin.Build(t, "hydro.c", testbin.Options{Compiler: compiler})
	const steps = 2000
	measure := func(flags ...string) (p *profile.Profile) {
		const tries = 5
		flags = append(flags, "--counters", "none", "--sample", "off")
		// A ring is full after a quarter of a second in which the tool has no processor.
		for range tries {
			p = clean(t, options{env: []string{"OMP_NUM_THREADS=2"}, flags: flags}, bin, "2000", "500").main
			if p.Meta.LostHits == 0 {
				return p
			}
		}
		t.Fatalf("%d hits were lost, and some in each of %d runs", p.Meta.LostHits, tries)
		return nil
	}
	derived, exact := measure("--derive-edges"), measure()
	if e := exact.Meta.Edges; e.Derived != 0 {
		t.Errorf("%d ends of %d were derived, though nobody asked", e.Derived, e.All)
	}
	e := derived.Meta.Edges
	if e.All == 0 || float64(e.Derived) < share*float64(e.All) && !lackedCores(derived) && !rareHits(derived) {
		t.Errorf("%d of %d ends were derived, want a share of at least %.2f", e.Derived, e.All, share)
	}
	t.Logf("%d of %d ends were derived; hits of a thread are %s apart", e.Derived, e.All, apart(derived))
	if saved := float64(exact.Meta.Hits) - float64(derived.Meta.Hits); math.Abs(saved-float64(e.Derived)) > 0.001*float64(exact.Meta.Hits) {
		t.Errorf("%d ends were derived, and %.0f hits saved", e.Derived, saved)
	}
	for i, p := range []*profile.Profile{derived, exact} {
		executions, ends, notes := uint64(0), uint64(0), 0
		for _, n := range p.Nodes {
			if n.Region < 0 {
				continue
			}
			for _, note := range p.Regions[n.Region].Notes {
				if strings.Contains(note, "--derive-edges") {
					notes++
				}
			}
			for j := range n.Stats {
				if x := n.Stats[j].Ends; x != nil {
					ends += x.Startup.Count + x.Barrier.Count + x.Shutdown.Count
				}
			}
			if !p.Regions[n.Region].Construct.IsParallel() {
				continue
			}
			for j := range n.Stats {
				s := &n.Stats[j]
				if p.Threads[s.Thread].Num == 0 {
					executions += s.Exec.C
				}
				for _, part := range []profile.Sum{s.Enter, s.Body, s.Barrier, s.Exit} {
					if part.C != s.Exec.C || part.T < 0 {
						t.Errorf("run %d: a part of %+v in %d executions", i, part, s.Exec.C)
					}
				}
			}
		}
		if executions != 30*steps {
			t.Errorf("run %d: %d regions, want %d", i, executions, 30*steps)
		}
		if (notes > 0) != (p.Meta.Edges.Derived > 0) {
			t.Errorf("run %d: %d notes", i, notes)
		}
		if ends > p.Meta.Edges.Derived || float64(ends) < 0.9*float64(p.Meta.Edges.Derived) {
			t.Errorf("run %d: there are intervals for %d of %d derived ends", i, ends, p.Meta.Edges.Derived)
		}
	}
	if got := float64(derived.Meta.Hits) / (30 * steps); got > most && !lackedCores(derived) && !rareHits(derived) {
		t.Errorf("%.2f hits per region, want at most %.1f", got, most)
	}
	if got := float64(exact.Meta.Hits) / (30 * steps); got < least {
		t.Errorf("%.2f hits per region where all is measured, want %.1f: the comparison shows nothing", got, least)
	}
}

// rareHits tells whether the hits of a thread were so far apart as where a hypervisor takes the
// processors away most of the time. The return of each hit that comes more than 100 us after the
// last one is armed (bpf/sparse.h).
func rareHits(p *profile.Profile) bool { return apart(p) > 40*time.Microsecond }

// apart is the mean time between two hits of a thread.
func apart(p *profile.Profile) time.Duration {
	return time.Duration(p.Meta.Duration * int64(len(p.Threads)) / int64(p.Meta.Hits))
}

// lackedCores tells whether the threads had no core for more than a tenth of their time. Then hits
// are rarer, and more returns are armed. TestTimeWithoutCore shows that this time is right.
func lackedCores(p *profile.Profile) bool {
	var none int64
	for _, s := range p.Nodes[0].Stats {
		if s.NoCore != nil {
			none += s.NoCore.Exec
		}
	}
	return none > int64(len(p.Threads))*p.Meta.Duration/10
}
