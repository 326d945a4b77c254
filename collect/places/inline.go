package places

import (
	"ompp-attach/attribution"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes/inline"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// inlined finds the construct without a call that is at the address of k. ok is false if there is
// none, or if such constructs are not measured.
func (r *Resolver) inlined(k attribution.Key) (place, inline.Construct, bool) {
	p, ok := r.at(k.Site)
	var x *inline.Inlined
	switch {
	case !ok:
		return p, inline.Construct{}, false
	case k.Construct == event.Atomic || k.Construct == event.Flush:
		if r.Atomics {
			x = inline.Atomics(p.object)
		}
	case k.Runtime == event.Gomp && r.Inlining && target.UsesGomp(p.object):
		x = inline.Of(p.object)
	}
	if x == nil {
		return p, inline.Construct{}, false
	}
	c, ok := x.At(p.vaddr)
	return p, c, ok && c.Construct == k.Construct
}

// inlineRegion fills in the place of a construct that makes no call. It returns false if k is no
// such construct.
func (r *Resolver) inlineRegion(k attribution.Key, reg *profile.Region) bool {
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
		if d, ok := inline.Of(better).At(p.vaddr); ok && d.Construct == c.Construct {
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
		if c.Told() && r.told[p.object] {
			reg.Notes = append(reg.Notes, noteTold)
		}
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

// TellLoops notes that loops of a file need no probe at their beginning if another
// event tells of it.
func (r *Resolver) TellLoops(o *symbols.Object) { r.told[o] = true }

// LoopAfter implements attribution.Resolver.
func (r *Resolver) LoopAfter(addr uint64) attribution.InlineLoop {
	p, ok := r.at(addr)
	if !ok || !r.told[p.object] {
		return attribution.InlineLoop{}
	}
	c, ok := inline.Of(p.object).BeginsAfter(p.vaddr)
	if !ok {
		return attribution.InlineLoop{}
	}
	return attribution.InlineLoop{Site: addr - p.vaddr + c.Identity, End: c.End}
}

// Notes on loops without calls. They are whole sentences: what is so, and what follows for the
// figures.
const (
	noteTold = "the loop follows the beginning of its region, or a barrier, at once. So its time counts from there, " +
		"and no probe marks the loop's beginning"
	noteWhole = "the source is not known, and the region is one static loop and nothing else. " +
		"A parallel loop has the same code, so the region is shown as one"
	noteOwnLines = "the source is not known. So the lines are those of the construct's code. The directive stands before them"
)

// inlineParallel marks a region that consists of one static loop as a parallel loop.
func (r *Resolver) inlineParallel(p place, reg *profile.Region) {
	if r.Inlining && reg.Construct == event.Parallel && target.UsesGomp(p.object) && inline.Of(p.object).IsLoop(p.vaddr) {
		reg.Construct = event.ParallelLoop
		reg.Notes = append(reg.Notes, noteWhole)
	}
}

// endsByProbe tells whether a probe of its own reports the end of the body of a single nowait.
func (r *Resolver) endsByProbe(site uint64) bool {
	_, _, ok := r.inlined(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.Single, Runtime: event.Gomp}, Site: site})
	return ok
}
