package analysis

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// WithCore returns a thread's figures at a node of a construct without the time in which the thread
// was ready to run and had no core: the figures that Disjoint.Classify divides.
func WithCore(of event.Construct, s *profile.ThreadStats) profile.ThreadStats {
	return withCore(of, s)
}

// withCore returns a thread's figures at a node without the time in which the thread was ready to
// run and had no core. No time becomes negative, and the parts do not exceed the whole (fit).
func withCore(of event.Construct, s *profile.ThreadStats) profile.ThreadStats {
	bare := *s
	bare.MPI, bare.Calls = callsWithCore(s.MPI), callsWithCore(s.Calls)
	c := s.NoCore
	if c == nil {
		return bare
	}
	away := c.Parts()
	for p, part := range bare.Parts() {
		if profile.Part(p) != profile.Exec { // see below
			part.T -= within(*away[p], part.T)
		}
	}
	bare.Task -= within(c.Task, bare.Task)
	// In recursion, Exec and Child may be negative, but their difference is not.
	own := s.Exec.T - s.Child
	child := within(c.Child, max(0, s.Child))
	bare.Child -= child
	bare.Exec.T -= child + within(c.Exec-c.Child, own)
	fit(&bare, s, of)
	return bare
}

// fit makes the parts of a thread's figures without the time without a core fit into the whole, if
// the measured parts, s, do. The scheduler tells the time without a core of the whole, and events
// tell in which part it was. So more may be missing in the whole than in the parts. That time was
// in the barrier, as far as the barrier lasted, and then in the body.
func fit(bare, s *profile.ThreadStats, of event.Construct) {
	wait, body := int64(0), int64(0) // the least that is left of the barrier, and of the body
	inside, measured := bare.Child, s.Child
	if !of.IsTasking() && s.Task <= s.Child { // otherwise the clock stood still for the tasks
		bare.Task = min(max(bare.Task, s.Task-(s.Child-bare.Child)), bare.Child)
		inside, measured = inside-bare.Task, measured-s.Task
		if s.Task <= s.Barrier.T {
			bare.Barrier.T = min(max(bare.Barrier.T, bare.Task), bare.Task+s.Barrier.T-s.Task)
			wait = bare.Task
		}
	}
	if measured <= s.Body.T { // the other regions inside lie in the body
		body = within(inside, s.Body.T)
		bare.Body.T = max(bare.Body.T, body)
	}
	excess := phases(bare) - bare.Exec.T - max(0, phases(s)-s.Exec.T)
	for _, part := range []struct {
		t     *int64
		least int64
	}{{&bare.Barrier.T, wait}, {&bare.Body.T, body}, {&bare.Exit.T, 0}, {&bare.Enter.T, 0}} {
		cut := within(excess, *part.t-part.least)
		*part.t -= cut
		excess -= cut
	}
}

// phases is the sum of the parts of a thread's time at a node (ns).
func phases(s *profile.ThreadStats) int64 { return s.Enter.T + s.Body.T + s.Barrier.T + s.Exit.T }

func callsWithCore(m *profile.MPIStats) *profile.MPIStats {
	if m == nil || m.NoCore == 0 {
		return m
	}
	bare := *m
	bare.T -= within(m.NoCore, m.T)
	bare.Wait = min(bare.T, m.Wait-within(m.WaitNoCore, m.Wait))
	return &bare
}

// flatNoCore returns a thread's time without a core at a node, for the flat profile, which is
// inclusive. within says that the node's time lies within the time of the same region further up
// the path.
func flatNoCore(c *profile.Cost, within bool) *profile.Cost {
	if c == nil {
		return nil
	}
	flat := *c
	if flat.Child = 0; within {
		flat.Exec, flat.Body = 0, 0
	}
	return &flat
}

// CoreShare returns the share (0 to 1) of the time in a region for which one or several threads had
// a core. known is false if there was no time.
func CoreShare(s *profile.ThreadStats) (share float64, known bool) {
	if s.Exec.T <= 0 {
		return 0, false
	}
	if s.NoCore == nil {
		return 1, true
	}
	return 1 - Ratio(within(s.NoCore.Exec, s.Exec.T), s.Exec.T), true
}

// ProgramCoreShare returns the share (0 to 1) of the threads' time in which they had a core or did
// not want one.
func ProgramCoreShare(p *profile.Profile) float64 {
	all := ThreadTime(p)
	return 1 - Ratio(within(NoCore(p), all), all)
}

// NoCore returns how long the program's threads were ready to run and had no core, inside and
// outside of regions (ns, summed over threads).
func NoCore(p *profile.Profile) (sum int64) {
	for i := range p.Nodes[0].Stats {
		if c := p.Nodes[0].Stats[i].NoCore; c != nil {
			sum += c.Exec
		}
	}
	return sum
}
