package collect

import (
	"ompp-attach/attribution"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/inline"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// MeasureInline makes the measurement place probes at constructs that make no call. It must be
// called before the measurement starts.
func (m *Measurement) MeasureInline() {
	m.inlining = true
	m.AddFinder(findInline)
}

// findInline is the CodeFinder for constructs that GCC compiles to plain instructions.
func findInline(mod *symbols.Module) []probes.CodePoint {
	o := mod.Object()
	if !target.UsesGomp(o) {
		return nil
	}
	return inline.Of(o).Points(event.Gomp)
}

// CountAtomics makes the measurement count the executions of atomic and flush constructs that make
// no call. It must be called before the measurement starts.
func (m *Measurement) CountAtomics() {
	m.atomics = true
	m.AddFinder(func(mod *symbols.Module) []probes.CodePoint {
		o := mod.Object()
		switch {
		case target.UsesGomp(o):
			return inline.Atomics(o).Points(event.Gomp)
		case o.Imports("__kmpc_fork_call"):
			return inline.Atomics(o).Points(event.Kmpc)
		}
		return nil
	})
}

// inlined finds the construct without a call that is at the address of k. ok is false if there is
// none, or if such constructs are not measured.
func (r *resolver) inlined(k attribution.Key) (place, inline.Construct, bool) {
	p, ok := r.at(k.Site)
	var x *inline.Inlined
	switch {
	case !ok:
		return p, inline.Construct{}, false
	case k.Construct == event.Atomic || k.Construct == event.Flush:
		if r.atomics {
			x = inline.Atomics(p.object)
		}
	case k.Runtime == event.Gomp && r.inlining && target.UsesGomp(p.object):
		x = inline.Of(p.object)
	}
	if x == nil {
		return p, inline.Construct{}, false
	}
	c, ok := x.At(p.vaddr)
	return p, c, ok && c.Kind == k.Construct
}

// inlineRegion fills in the place of a construct that makes no call. It returns false if k is no
// such construct.
func (r *resolver) inlineRegion(k attribution.Key, reg *profile.Region) bool {
	switch k.Construct {
	case event.Loop, event.Master, event.Masked, event.Atomic, event.Flush:
	default:
		return false
	}
	p, c, ok := r.inlined(k)
	if !ok {
		return false
	}
	if better := r.named(p.object); better != p.object && k.Construct == event.Loop {
		if d, ok := inline.Of(better).At(p.vaddr); ok && d.Kind == c.Kind {
			c = d
		}
	}
	loc := &reg.Location
	loc.Object, loc.Offset = p.module.Path, p.vaddr
	r.inFunction(loc, p, p.vaddr)
	reg.Merged = c.Merged
	reg.Notes = append(reg.Notes, c.Notes...)
	if k.Construct == event.Loop {
		reg.Notes = append(reg.Notes, attribution.NoteInline)
	}
	if c.Begin == 0 {
		return true
	}
	loc.File, loc.Begin, loc.End = c.File, c.Begin, c.Last
	if !c.Exact {
		loc.Mark = profile.Approx
		reg.Notes = append(reg.Notes, noteOwnLines)
	}
	return true
}

const noteWhole = "without the source: the region is one static loop and nothing else, which has the same code as a parallel loop"

const noteOwnLines = "without the source, the lines are those of the construct's code: the directive stands before them"

// inlineParallel marks a region that consists of one static loop as a parallel loop.
func (r *resolver) inlineParallel(p place, reg *profile.Region) {
	if r.inlining && reg.Construct == event.Parallel && target.UsesGomp(p.object) && inline.Of(p.object).IsLoop(p.vaddr) {
		reg.Construct = event.ParallelLoop
		reg.Notes = append(reg.Notes, noteWhole)
	}
}

// endsByProbe tells whether a probe of its own reports the end of the body of a single nowait.
func (r *resolver) endsByProbe(site uint64) bool {
	_, _, ok := r.inlined(attribution.Key{Kind: attribution.Kind{Construct: event.Single, Runtime: event.Gomp}, Site: site})
	return ok
}

// unseenInline lists the inline constructs of a process that no probe sees, with the reasons.
func (p *Process) unseenInline() (out []profile.Unseen) {
	if !p.resolver.inlining {
		return []profile.Unseen{{What: "static loops, master (GCC)",
			Reason: "their probes are switched off: their time is that of the region around them, and the wait after a static loop shows as a BARRIER or as the region's exitBarT"}}
	}
	for i := range p.resolver.mods {
		o := p.resolver.mods[i].Object()
		if _, probed := p.code[target.IDOf(&p.resolver.mods[i])]; !probed || !target.UsesGomp(o) {
			continue
		}
		if o.Arch() != "amd64" {
			return []profile.Unseen{{What: "static loops, master (GCC)", Reason: "GCC makes plain instructions of them, which this version does not read on " + o.Arch()}}
		}
		for _, u := range inline.Of(o).Unseen {
			_, body := tableOf(o).Function(u.Fn)
			out = append(out, profile.Unseen{What: u.What, Reason: u.Reason, Object: p.resolver.mods[i].Path, Offset: u.Fn, Body: body,
				Function: p.resolver.function(place{&p.resolver.mods[i], o, u.Fn}, u.Fn)})
		}
	}
	return out
}
