package job

import (
	"testing"

	"ompp-attach/job/spread"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// The rules of thumb hold from their thresholds on.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		deviation float64
		max       int64
		whole     float64
		want      Verdict
	}{
		{20, 0, 1000, Differ}, {19.9, 99, 1000, Alike}, {19.9, 100, 1000, Outliers},
		{20, 100, 0, Alike}, {0, 0, 0, Alike}, {20, 100, -5, Alike},
	} {
		if got := judge(&spread.Stats{StdDev: c.deviation, Max: c.max}, c.whole); got != c.want {
			t.Errorf("deviation %v, range %d of %v: %s, want %s", c.deviation, c.max, c.whole, got, c.want)
		}
	}
}

func TestSteady(t *testing.T) {
	for _, c := range []struct {
		sum, x, y float64
		want      bool
	}{{50, 100, 20, true}, {50, 20, 100, true}, {51, 100, 20, false}, {51, 100, 100, false}, {0, 0, 0, true}} {
		if got := steady(c.sum, c.x, c.y); got != c.want {
			t.Errorf("a sum that varies by %v of parts that do by %v and %v is steady: %t", c.sum, c.x, c.y, got)
		}
	}
	for _, c := range []struct {
		x, y, r float64
		want    bool
	}{{100, 100, -0.9, true}, {100, 100, -0.85, false}, {100, 30, -1, false}, {100, 60, -1, true}, {100, 100, 0.9, false}} {
		if got := makeUp(c.x, c.y, c.r); got != c.want {
			t.Errorf("deviations %v and %v, correlation %v: they make up for each other: %t", c.x, c.y, c.r, got)
		}
	}
}

// No MPI time makes up for the imbalance. So the sum of the overheads varies, too.
func TestNoExchange(t *testing.T) {
	var ranks []*profile.Profile
	for r, extra := range []int64{0, 40 * ms, 100 * ms, 20 * ms} {
		ranks = append(ranks, toy(r, 4, extra, extra))
	}
	if x := read(t, sources(t, ranks), Options{}).Exchange(); x.Steady || x.Trade {
		t.Errorf("%+v: neither steady nor a trade", x)
	}
	if x := read(t, sources(t, toyJob(0, 40*ms, 100*ms)), Options{}).Exchange(); x.ImbalMPI.Known || x.WorkMPI.Known {
		t.Errorf("%+v: correlations of %d ranks", x, MinRanks-1)
	}
}

// explained returns the explanation of the loop in a job. change changes the loop of each rank.
func explained(t *testing.T, ranks int, change func(rank int, s *profile.ThreadStats)) Explanation {
	t.Helper()
	all := toyJob(make([]int64, ranks)...)
	for r, p := range all {
		for i := range p.Nodes[2].Stats {
			change(r, &p.Nodes[2].Stats[i])
		}
	}
	return read(t, sources(t, all), Options{}).Regions[1].Explain(mpi.Minimal)
}

func longer(s *profile.ThreadStats, by int64) {
	s.Exec.T += by
	s.Body.T += by
}

func TestExplainRules(t *testing.T) {
	trade := func(r int, s *profile.ThreadStats) {
		s.Barrier.T = int64(r) * 100 * ms
		s.MPI = &profile.MPIStats{T: int64(5-r) * 100 * ms, Calls: 1}
		s.Exec.T += s.Barrier.T + s.MPI.T
		s.Body.T += s.MPI.T
	}
	if e := explained(t, 6, trade); e.Reading != Trade || e.Varies || !e.Level {
		t.Errorf("waiting and MPI make up for each other: %+v", e)
	}
	if e := explained(t, 6, func(r int, s *profile.ThreadStats) { trade(r, s); longer(s, int64(r*r)*200*ms) }); e.Reading != TimeOnly || !e.Varies || e.Level {
		t.Errorf("the same, and work varies more: %+v", e)
	}
	if e := explained(t, 6, func(int, *profile.ThreadStats) {}); e.Varies || e.Level {
		t.Errorf("nothing varies: %+v", e)
	}
	if e := explained(t, 6, func(r int, s *profile.ThreadStats) {
		longer(s, int64(r)*10*ms)
		s.MPI = &profile.MPIStats{Calls: 1, Out: [2]uint64{uint64(1000 * (10 - r)), 0}}
	}); e.Reading != ByVolume || e.WithBytes.R > -InStep {
		t.Errorf("the more work, the fewer bytes: %+v", e)
	}
	if e := explained(t, MinRanks-1, func(r int, s *profile.ThreadStats) { longer(s, int64(r)*10*ms) }); e.Reading != TooFew {
		t.Errorf("%d ranks: %+v", MinRanks-1, e)
	}
}
