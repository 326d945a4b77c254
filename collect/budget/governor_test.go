package budget

import (
	"testing"
	"time"

	"ompp-attach/event"
)

// A simulated program. While the probes of a group are placed, each thread pays a share of its time
// for the group. It goes on paying for a while after the probes were removed. The governor must let
// no thread pay more than the budget.
type simulatedCosts struct {
	g       *Governor
	now     uint64
	groups  event.Group             // number of groups that cost something
	until   [event.NumGroups]uint64 // by group: hits go on until then after its probes were removed
	history map[uint32][]float64
	removed [event.NumGroups]time.Duration // how long each group was
	periods [event.NumGroups]int
	gaps    [event.NumGroups]int
}

func (s *simulatedCosts) run(length time.Duration, share func(tid uint32, group event.Group) float64, threads int) {
	dt := uint64(s.g.Interval)
	for end := s.now + uint64(length); s.now < end; {
		s.now += dt
		paid := map[uint32]*Paid{}
		for tid := range uint32(threads) {
			v := &Paid{}
			for k := event.Group(1); k <= s.groups; k++ {
				part := float64(dt)
				if s.g.groups[k].removed {
					part = 0
					if left := int64(s.until[k]) - int64(s.now-dt); left > 0 {
						part = float64(min(uint64(left), dt))
					}
				}
				v[k] = share(tid, k-1) * part
			}
			paid[tid] = v
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			s.history[tid] = append(s.history[tid], sum)
		}
		for k := range s.g.groups {
			if s.g.groups[k].removed {
				s.removed[k] += time.Duration(dt)
			}
		}
		for _, a := range s.g.Decide(s.now, paid) {
			switch a.Do {
			case Remove:
				s.until[a.Group] = s.now + uint64(removalTime)
				s.gaps[a.Group]++
			case NewPeriod:
				s.periods[a.Group]++
			}
		}
	}
}

func simulatedGovernor(budget float64, groups event.Group) *simulatedCosts {
	return &simulatedCosts{g: NewGovernor(budget), now: 1e9, groups: groups, history: map[uint32][]float64{}}
}

// allGaps is how often probes were removed.
func (s *simulatedCosts) allGaps() (n int) {
	for _, g := range s.gaps {
		n += g
	}
	return n
}

// worst is the largest share that a thread paid in any window.
func (s *simulatedCosts) worst(window time.Duration) (share float64) {
	n := int(window / s.g.Interval)
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
	quiet := func(uint32, event.Group) float64 { return 0.001 }
	for _, c := range []struct {
		name   string
		budget float64
		share  func(tid uint32, group event.Group) float64 // in the storm
	}{
		{"one group takes nearly all", 0.05, func(_ uint32, k event.Group) float64 { return []float64{0.95, 0, 0.001}[k] }},
		{"a tight budget", 0.01, func(_ uint32, k event.Group) float64 { return []float64{0.95, 0, 0.0001}[k] }},
		{"just too dear", 0.05, func(_ uint32, k event.Group) float64 { return []float64{0.08, 0.001, 0.001}[k] }},
		{"two groups", 0.05, func(_ uint32, k event.Group) float64 { return []float64{0.5, 0.4, 0.001}[k] }},
		{"three groups that are dear together", 0.05, func(_ uint32, _ event.Group) float64 { return 0.03 }},
		{"one thread of many", 0.05, func(tid uint32, k event.Group) float64 {
			if tid == 3 && k == 1 {
				return 0.9
			}
			return 0
		}},
		{"a generous budget", 0.5, func(_ uint32, k event.Group) float64 { return []float64{0.95, 0, 0}[k] }},
	} {
		s := simulatedGovernor(c.budget, 3)
		s.run(15*time.Second, quiet, 4)
		if s.allGaps() != 0 {
			t.Errorf("%s: probes were removed while it was quiet", c.name)
		}
		s.run(30*time.Second, c.share, 4)
		if s.allGaps() < 5 {
			t.Errorf("%s: only %v gaps: nothing could be extrapolated", c.name, s.gaps)
		}
		s.run(5*time.Second, quiet, 4)
		for k := range s.g.groups {
			if s.g.groups[k].removed {
				t.Errorf("%s: group %d is removed after the storm", c.name, k)
			}
		}
		gaps := s.allGaps()
		s.run(10*time.Second, quiet, 4)
		if n := s.allGaps(); n != gaps {
			t.Errorf("%s: %d gaps long after the storm", c.name, n-gaps)
		}
		worst := s.worst(Horizon)
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
		s.run(length, func(uint32, event.Group) float64 { return 0.9 }, 2)
		sum := 0.0
		for _, v := range s.history[0] {
			sum += v
		}
		if share := sum / float64(length); share > 0.05 {
			t.Errorf("%.2f %% of %s", 100*share, length)
		}
	}
}

// Constructs of no group cannot be removed. If they cost more than the budget, that must be
// known.
func TestGovernorIsShort(t *testing.T) {
	g := NewGovernor(0.05)
	for now := uint64(1e9); now < 20e9; now += uint64(g.Interval) {
		dt := float64(g.Interval)
		if all := g.Decide(now, map[uint32]*Paid{1: {event.NoGroup: 0.02 * dt}}); len(all) > 0 || g.Short {
			t.Fatalf("%v, short %t of 2 %%", all, g.Short)
		}
	}
	near := NewGovernor(0.05) // empties the purse, but is within the budget
	for now := uint64(1e9); now < 200e9; now += uint64(near.Interval) {
		if near.Decide(now, map[uint32]*Paid{1: {event.NoGroup: 0.045 * float64(near.Interval)}}); near.Short {
			t.Fatalf("4.5 %% of 5 %% are too much after %d s", now/1e9)
		}
	}
	for now := uint64(20e9); now < 40e9; now += uint64(g.Interval) {
		g.Decide(now, map[uint32]*Paid{1: {event.NoGroup: 0.2 * float64(g.Interval)}})
	}
	if !g.Short {
		t.Error("20 % are said to be within the budget")
	}
}

// Groups that cost little beside a storm go on being observed.
func TestGovernorLeavesTheCheap(t *testing.T) {
	s := simulatedGovernor(0.05, 3)
	s.run(20*time.Second, func(_ uint32, k event.Group) float64 { return []float64{0.9, 0.002, 0.001}[k] }, 2)
	if s.allGaps() != s.gaps[1] {
		t.Errorf("gaps %v", s.gaps)
	}
	if s.removed[1] < 15*time.Second {
		t.Errorf("the dear one was removed for %s only", s.removed[1])
	}
	if s.g.Worst(20*time.Second) > 0.05 {
		t.Errorf("the governor itself says %.2f %%", 100*s.g.Worst(20*time.Second))
	}
}
