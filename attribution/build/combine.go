package build

import (
	"slices"

	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// NoteSplit is the note on a combined region that GCC had split.
const NoteSplit = "GCC made a parallel region and a loop of this directive: the two are shown as one region"

// combine recognises combined constructs that the compiler split into a parallel region and a loop
// or sections. With libomp, the two stand at the same directive. With GCC, the source says
// `parallel for`, and every thread ran one loop without a barrier. Such a pair becomes a PARALLEL
// LOOP or PARALLEL SECTIONS.
func (b *builder) combine(n *built) {
	for _, c := range n.children {
		b.combine(c)
	}
	if n.region < 0 {
		return
	}
	if b.groupOfTaskloop(n) {
		loop := n.children[0]
		n.take(loop)
		n.region, n.key, n.stats, n.children = loop.region, loop.key, b.withGroup(loop, n), loop.children
		n.samples.AddAll(loop.samples)
		return
	}
	if !b.regions[n.region].Construct.IsParallel() {
		return
	}
	for i, c := range n.children {
		r := b.regions[n.region]
		switch cr := &b.regions[c.region]; {
		case !b.sameDirective(n, c):
			continue
		case cr.Construct == event.Loop:
			r.Construct = event.ParallelLoop
		case cr.Construct == event.Sections:
			r.Construct = event.ParallelSections
		default:
			continue
		}
		n.takeOver(c, r.Construct)
		n.take(c)
		n.samples.AddAll(c.samples)
		n.region = b.intern(r)
		if merged := &b.regions[n.region]; n.key.Runtime == event.Gomp && !slices.Contains(merged.Notes, NoteSplit) && b.regions[c.region].flags&tree.Inline == 0 {
			merged.Notes = append(merged.Notes, NoteSplit)
		}
		n.children = slices.Delete(n.children, i, i+1)
		for _, g := range c.children {
			if j := slices.IndexFunc(n.children, func(x *built) bool { return x.region == g.region }); j >= 0 {
				absorb(n.children[j], g)
			} else {
				n.children = append(n.children, g)
			}
		}
		return
	}
}

// sameDirective tells whether a parallel region and a construct in it are one combined directive.
func (b *builder) sameDirective(n, c *built) bool {
	r, cr := &b.regions[n.region], &b.regions[c.region]
	if n.key.Runtime == event.Kmpc {
		return r.Location.File != "" && r.Location.Begin != 0 &&
			cr.Location.File == r.Location.File && cr.Location.Begin == r.Location.Begin
	}
	if r.Construct != event.ParallelLoop || n.key.Construct != event.Parallel || cr.Construct != event.Loop {
		return false
	}
	for seat := range max(len(n.stats), len(c.stats)) {
		if seat >= len(n.stats) || seat >= len(c.stats) || n.stats[seat].Exec.C != c.stats[seat].Exec.C || c.stats[seat].Barrier.C > 0 {
			return false
		}
	}
	return true
}

// takeOver moves the own time of the construct c into the region n that it is part of.
func (n *built) takeOver(c *built, as event.Construct) {
	for seat := range c.stats {
		for len(n.stats) <= seat { // the region itself may have been seen in part
			n.stats = append(n.stats, profile.ThreadStats{})
		}
		s, cs := &n.stats[seat], &c.stats[seat]
		s.Child += cs.Child - cs.Exec.T
		s.UncoverCost(cs)
		s.UncoverCounters(cs)
		s.Waits = s.Waits.Plus(cs.Waits)
		s.Sched = s.Sched.Plus(cs.Sched)
		if as == event.ParallelSections {
			s.Body = cs.Body
			s.TakeBodyCost(cs)
		}
	}
}

// groupOfTaskloop tells whether a node is the taskgroup that clang puts around a taskloop. Such a
// group stands at the taskloop's directive. If no places are known, it has nothing else in it.
func (b *builder) groupOfTaskloop(n *built) bool {
	r := &b.regions[n.region]
	if r.Construct != event.TaskGroup || n.key.Runtime != event.Kmpc || len(n.children) != 1 {
		return false
	}
	loop := &b.regions[n.children[0].region]
	if loop.Construct != event.TaskLoop || executions(n) != executions(n.children[0]) {
		return false
	}
	return r.Location.Begin == 0 || r.Location.Begin == loop.Location.Begin
}

func executions(n *built) (sum uint64) {
	for i := range n.stats {
		sum += n.stats[i].Exec.C
	}
	return sum
}

// withGroup returns the figures of a taskloop together with those of the taskgroup around it, which
// hold the wait for its tasks.
func (b *builder) withGroup(loop, group *built) []profile.ThreadStats {
	stats := group.stats
	for seat := range loop.stats {
		for len(stats) <= seat {
			stats = append(stats, profile.ThreadStats{})
		}
		s, own := &stats[seat], &loop.stats[seat]
		s.Child += own.Child - own.Exec.T
		s.UncoverCost(own)
		s.UncoverCounters(own)
		s.Waits = s.Waits.Plus(own.Waits)
		s.Sched = s.Sched.Plus(own.Sched)
		s.Task += own.Task
		s.Tasks += own.Tasks
	}
	for seat := range stats { // a taskloop's time is not divided into phases
		s := &stats[seat]
		s.Body = profile.Sum{T: s.Exec.T, C: s.Exec.C}
		s.Barrier = profile.Sum{}
		s.UndivideCost()
	}
	return stats
}
