package collect

import (
	"testing"
	"time"
)

// A simulated program. While a kind is observed, each thread pays a share of its time for the kind,
// also for a while after the kind was taken away. The governor must let no thread pay more than the
// budget.
type simulatedCosts struct {
	g       *governor
	now     uint64
	until   []uint64 // by kind: hits go on until then after it was taken away
	history map[uint32][]float64
	away    []time.Duration // how long each kind was
	periods []int
	gaps    []int
}

func (s *simulatedCosts) run(length time.Duration, share func(tid uint32, kind int) float64, threads int) {
	dt := uint64(s.g.interval)
	for end := s.now + uint64(length); s.now < end; {
		s.now += dt
		paid := map[uint32][]float64{}
		for tid := range uint32(threads) {
			v := make([]float64, len(s.g.kinds)+1)
			for k := range s.g.kinds {
				part := float64(dt)
				if s.g.kinds[k].away {
					part = 0
					if left := int64(s.until[k]) - int64(s.now-dt); left > 0 {
						part = float64(min(uint64(left), dt))
					}
				}
				v[k] = share(tid, k) * part
			}
			paid[tid] = v
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			s.history[tid] = append(s.history[tid], sum)
		}
		for k := range s.g.kinds {
			if s.g.kinds[k].away {
				s.away[k] += time.Duration(dt)
			}
		}
		for _, a := range s.g.look(s.now, paid) {
			switch a.what {
			case takeAway:
				s.until[a.kind] = s.now + uint64(switchTime)
				s.gaps[a.kind]++
			case newPeriod:
				s.periods[a.kind]++
			}
		}
	}
}

func simulatedGovernor(budget float64, kinds int) *simulatedCosts {
	return &simulatedCosts{g: newGovernor(budget, kinds), now: 1e9, until: make([]uint64, kinds), history: map[uint32][]float64{},
		away: make([]time.Duration, kinds), periods: make([]int, kinds), gaps: make([]int, kinds)}
}

// worst is the largest share that a thread paid in any window.
func (s *simulatedCosts) worst(window time.Duration) (share float64) {
	n := int(window / s.g.interval)
	for _, h := range s.history {
		sum := 0.0
		for i, v := range h {
			if sum += v; i >= n {
				sum -= h[i-n]
			}
			share = max(share, sum/float64(window))
		}
	}
	return share
}

func TestGovernor(t *testing.T) {
	quiet := func(uint32, int) float64 { return 0.001 }
	for _, c := range []struct {
		name   string
		budget float64
		share  func(tid uint32, kind int) float64 // in the storm
	}{
		{"one kind takes nearly all", 0.05, func(_ uint32, k int) float64 { return []float64{0.95, 0, 0.001}[k] }},
		{"a tight budget", 0.01, func(_ uint32, k int) float64 { return []float64{0.95, 0, 0.0001}[k] }},
		{"just too dear", 0.05, func(_ uint32, k int) float64 { return []float64{0.08, 0.001, 0.001}[k] }},
		{"two kinds", 0.05, func(_ uint32, k int) float64 { return []float64{0.5, 0.4, 0.001}[k] }},
		{"three kinds that are dear together", 0.05, func(_ uint32, _ int) float64 { return 0.03 }},
		{"one thread of many", 0.05, func(tid uint32, k int) float64 {
			if tid == 3 && k == 1 {
				return 0.9
			}
			return 0
		}},
		{"a generous budget", 0.5, func(_ uint32, k int) float64 { return []float64{0.95, 0, 0}[k] }},
	} {
		s := simulatedGovernor(c.budget, 3)
		s.run(15*time.Second, quiet, 4)
		if s.gaps[0]+s.gaps[1]+s.gaps[2] != 0 {
			t.Errorf("%s: probes went away while it was quiet", c.name)
		}
		s.run(30*time.Second, c.share, 4)
		if s.gaps[0]+s.gaps[1]+s.gaps[2] < 5 {
			t.Errorf("%s: only %v gaps: nothing could be extrapolated", c.name, s.gaps)
		}
		s.run(5*time.Second, quiet, 4)
		for k := range s.g.kinds {
			if s.g.kinds[k].away {
				t.Errorf("%s: kind %d is away after the storm", c.name, k)
			}
		}
		gaps := s.gaps[0] + s.gaps[1] + s.gaps[2]
		s.run(10*time.Second, quiet, 4)
		if n := s.gaps[0] + s.gaps[1] + s.gaps[2]; n != gaps {
			t.Errorf("%s: %d gaps long after the storm", c.name, n-gaps)
		}
		worst := s.worst(budgetWindow)
		if worst > c.budget {
			t.Errorf("%s: %.2f %% in some window, the budget is %.2f %%", c.name, 100*worst, 100*c.budget)
		}
		if worst < c.budget/4 {
			t.Errorf("%s: of %.2f %% only %.2f %% were used", c.name, 100*c.budget, 100*worst)
		}
	}
}

// A storm at the very beginning must not exceed the budget of a short run either.
func TestGovernorShortRun(t *testing.T) {
	for _, length := range []time.Duration{4 * time.Second, 8 * time.Second} {
		s := simulatedGovernor(0.05, 1)
		s.run(length, func(uint32, int) float64 { return 0.9 }, 2)
		sum := 0.0
		for _, v := range s.history[0] {
			sum += v
		}
		if share := sum / float64(length); share > 0.05 {
			t.Errorf("%.2f %% of %s", 100*share, length)
		}
	}
}

// Constructs of no kind cannot be taken away. If they cost more than the budget, that must be
// known.
func TestGovernorIsShort(t *testing.T) {
	g := newGovernor(0.05, 2)
	for now := uint64(1e9); now < 20e9; now += uint64(g.interval) {
		dt := float64(g.interval)
		if acts := g.look(now, map[uint32][]float64{1: {0, 0, 0.02 * dt}}); len(acts) > 0 || g.short {
			t.Fatalf("%v, short %t of 2 %%", acts, g.short)
		}
	}
	for now := uint64(20e9); now < 40e9; now += uint64(g.interval) {
		g.look(now, map[uint32][]float64{1: {0, 0, 0.2 * float64(g.interval)}})
	}
	if !g.short {
		t.Error("20 % are said to be within the budget")
	}
}

// Kinds that cost little beside a storm go on being observed.
func TestGovernorLeavesTheCheap(t *testing.T) {
	s := simulatedGovernor(0.05, 3)
	s.run(20*time.Second, func(_ uint32, k int) float64 { return []float64{0.9, 0.002, 0.001}[k] }, 2)
	if s.gaps[1]+s.gaps[2] != 0 {
		t.Errorf("gaps %v", s.gaps)
	}
	if s.away[0] < 15*time.Second {
		t.Errorf("the dear one was away for %s only", s.away[0])
	}
	if s.g.worst(20*time.Second) > 0.05 {
		t.Errorf("the governor itself says %.2f %%", 100*s.g.worst(20*time.Second))
	}
}
