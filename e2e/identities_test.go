package e2e

import (
	"math"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/efficiency"
	"ompp-attach/profile"
)

// addsUp checks what holds of a measured process. Threads lack a core in regions for no longer than
// in all. The parts of the time are the threads' time. POP's metrics fit together. 1 in 1000 is for
// the clocks of different threads.
func addsUp(t testing.TB, recorded *profile.Profile) {
	t.Helper()
	lacked := make([]int64, len(recorded.Threads))
	for i := range recorded.Nodes {
		for _, s := range recorded.Nodes[i].Stats {
			switch c := s.NoCore; {
			case c == nil:
			case i == 0:
				lacked[s.Thread] += c.Exec
			default:
				lacked[s.Thread] -= max(0, c.Exec-c.Child)
			}
		}
	}
	for i, ns := range lacked {
		if ns < 0 {
			t.Errorf("thread %+v lacked a core in regions for %d ns more than in all", recorded.Threads[i], -ns)
		}
	}
	p := analysis.Adjust(recorded)
	r := efficiency.OfProfile(p)
	whole := r.Whole()
	near := func(what string, got, want float64) {
		t.Helper()
		if math.IsNaN(got) || math.Abs(got-want) > 1e-3*max(1, math.Abs(want)) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	startEnd := analysis.MPIStartEnd(p)
	if all := float64(analysis.ThreadTime(p)); startEnd.T == 0 && all > 0 {
		near("the parts, of the threads' time", float64(whole.Sum())/all, 1)
	}
	for part := range efficiency.NumParts {
		if whole[part] < 0 {
			t.Errorf("%s: %d", part.Key(), whole[part])
		}
	}
	m := map[string]float64{}
	tree := r.Multiplicative()
	tree.Walk(func(x *efficiency.Metric, _ int) { m[x.Key] = x.Value })
	near("HPE, by e_mt", m["hybrid_parallel"], whole.Efficiency())
	near("HLBE x HCE", m["hybrid_load_balance"]*m["hybrid_communication"], m["hybrid_parallel"])
	if r.UsesMPI() {
		near("MPI_PE x OMP_PE", m["mpi_parallel"]*m["omp_parallel"], m["hybrid_parallel"])
	}
	additive := r.Additive()
	near("HPE of the additive tree", additive.Value, m["hybrid_parallel"])
	additive.Walk(func(x *efficiency.Metric, _ int) {
		if x.Value > 1.001 || x.Value < -0.001 {
			t.Errorf("%s: %g", x.Key, x.Value)
		}
		lost := 0.0
		for _, of := range x.Of {
			lost += 1 - of.Value
		}
		if len(x.Of) > 0 {
			near("what "+x.Key+" loses below", lost, 1-x.Value)
		}
	})
}
