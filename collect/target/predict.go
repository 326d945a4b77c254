package target

import (
	"slices"

	"ompp-attach/calibration"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// ConstructProbes are the hits of one execution of a construct by one thread. Each step of the
// execution has a cheapest and a most expensive kind of hit, because several entry points may serve
// one step. Some steps, such as a return from waiting, may not be probed.
type ConstructProbes struct {
	Construct event.Construct
	Steps     []ProbeRange
}

// ProbeRange is the cheapest and the most expensive kind of hit for a step.
type ProbeRange struct{ Least, Most event.Probe }

// Cost is the least and the most time that the hits take, in ns.
func (c *ConstructProbes) Cost(costs *calibration.Costs) (least, most float64) {
	for _, s := range c.Steps {
		least += costs.Of(s.Least).Sum()
		most += costs.Of(s.Most).Sum()
	}
	return least, most
}

// cheaper orders kinds of hits by cost. The hit of a return costs less than any other.
func cheaper(a, b event.Probe) bool {
	rank := func(p event.Probe) int {
		if p.WithoutReads() == event.ProbeReturn {
			return 0
		}
		return int(p.WithoutReads())*int(event.NumProbes) + p.Reads()
	}
	return rank(a) < rank(b)
}

// constructProbes lists a plan's probes by construct. called tells whether a module of the process
// imports an entry point.
func constructProbes(plan *probes.Plan, called func(string) bool) (out []ConstructProbes) {
	type step struct {
		construct event.Construct
		edge      event.Edge
	}
	steps := map[step]ProbeRange{}
	occurs := map[event.Construct]bool{event.Parallel: true}
	var order []step
	for i := range plan.Placements {
		pl := &plan.Placements[i]
		inside := pl.Symbol[0] == '[' // a place inside the runtime
		if !inside && !called(pl.Symbol) {
			continue
		}
		c, entry, ret := pl.Edges()
		entryKind, returnKind := pl.Kinds()
		if c.IsParallel() || c == event.ReductionBarrier {
			c = event.Parallel
		}
		occurs[c] = occurs[c] || !inside
		for _, s := range []struct {
			edge event.Edge
			kind event.Probe
		}{{entry, entryKind}, {ret, returnKind}} {
			if s.edge == event.NoEdge {
				continue
			}
			at := step{c, s.edge}
			r, known := steps[at]
			if !known {
				order = append(order, at)
				r = ProbeRange{s.kind, s.kind}
			}
			if cheaper(s.kind, r.Least) {
				r.Least = s.kind
			}
			if cheaper(r.Most, s.kind) {
				r.Most = s.kind
			}
			if s.kind.WithoutReads() == event.ProbeReturn && pl.MayNotReturn() {
				r.Least = event.NoProbe
			}
			steps[at] = r
		}
	}
	occurs[event.TaskExec] = occurs[event.Task] || occurs[event.TaskLoop]
	for _, s := range order {
		if !occurs[s.construct] {
			continue
		}
		i := slices.IndexFunc(out, func(x ConstructProbes) bool { return x.Construct == s.construct })
		if i < 0 {
			i = len(out)
			out = append(out, ConstructProbes{Construct: s.construct})
		}
		out[i].Steps = append(out[i].Steps, steps[s])
	}
	slices.SortFunc(out, func(a, b ConstructProbes) int { return int(a.Construct) - int(b.Construct) })
	return out
}
