package places

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"ompp-attach/attribution"
	"ompp-attach/collect/user"
	"ompp-attach/event"
	"ompp-attach/probes/gomp"
	"ompp-attach/probes/kmpc"
	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// Resolver answers the engine's questions about addresses in one process, from the files that the
// process maps.
type Resolver struct {
	mapped *symbols.Process
	mods   []symbols.Module
	gone   []symbols.Module // files that were unloaded; none of them overlaps one of mods
	bound  map[uint64]place
	debug  map[*symbols.Object]*symbols.Object // see named

	constructs map[uint64]bool  // addresses that name constructs
	covered    map[covered]bool // see noteCovered

	told    map[*symbols.Object]bool // see TellLoops
	names   map[uint64]string        // of regions named at run time by markers, by Fn
	namedAt map[uint64]uint64        // address of a name to the Fn that stands for all equal names

	Wanted
}

// Wanted is what is probed beyond the calls of a runtime.
type Wanted struct {
	Inlining bool          // constructs that make no call
	Atomics  bool          // atomics that make no call
	User     *user.Regions // nil: no user regions
	// LeavesWorksharing: a barrier may end a construct that is left out (selection.Selection).
	LeavesWorksharing bool
}

// place is an address in a file. module is nil if the address lies in no file.
type place struct {
	module *symbols.Module
	object *symbols.Object
	vaddr  uint64
}

// NewResolver returns a resolver for the process that maps the files of mapped.
func NewResolver(mapped *symbols.Process, w Wanted) *Resolver {
	return &Resolver{mapped: mapped, Wanted: w, bound: map[uint64]place{}, names: map[uint64]string{}, namedAt: map[uint64]uint64{},
		told: map[*symbols.Object]bool{}, constructs: map[uint64]bool{}, covered: map[covered]bool{}}
}

// SetModules sets the files that the process maps now. A file that the process has unloaded is
// still found, until another file covers a part of its addresses. Events need that: an event that
// waits for events of other threads is applied later.
func (r *Resolver) SetModules(now []symbols.Module) {
	r.noteCovered(now)
	var gone []symbols.Module
	for _, m := range slices.Concat(r.gone, r.mods) { // no two of them overlap
		if !symbols.Overlaps(now, &m) {
			gone = append(gone, m)
		}
	}
	slices.SortFunc(gone, func(a, b symbols.Module) int { return cmp.Compare(a.Start, b.Start) })
	r.gone, r.mods = gone, now
}

// Modules are the files that the process mapped when they were last listed.
func (r *Resolver) Modules() []symbols.Module { return r.mods }

// Copy copies what changes as addresses are looked up.
func (r *Resolver) Copy() *Resolver {
	c := *r
	c.bound, c.names, c.namedAt, c.told = maps.Clone(r.bound), maps.Clone(r.names), maps.Clone(r.namedAt), maps.Clone(r.told)
	c.constructs, c.covered = maps.Clone(r.constructs), maps.Clone(r.covered)
	return &c
}

// at returns the place of an address. The place is stored when the address is first seen: later
// another library may be at the address, or none.
func (r *Resolver) at(addr uint64) (place, bool) {
	if addr == 0 {
		return place{}, false
	}
	if p, ok := r.bound[addr]; ok {
		return p, p.module != nil
	}
	m, ok := symbols.Find(r.mods, addr)
	if !ok {
		// First list the modules anew: another file may lie now where an unloaded one was. A
		// program that was attached to is not stopped when it loads libraries.
		if mods, _ := r.mapped.Modules(); len(mods) > 0 {
			r.SetModules(mods)
		}
		if m, ok = symbols.Find(r.mods, addr); !ok {
			m, ok = symbols.Find(r.gone, addr)
		}
	}
	p := place{}
	if ok {
		p = place{m, m.Object(), m.VAddr(addr)}
	}
	r.bound[addr] = p
	return p, ok
}

// FileOf returns the path of the file in which an address lies, or "".
func (r *Resolver) FileOf(addr uint64) string {
	if p, ok := r.at(addr); ok {
		return p.module.Path
	}
	return ""
}

// Seen implements attribution.Resolver.
func (r *Resolver) Seen(k attribution.Key) {
	addrs := []uint64{k.Site, k.Loc, k.Fn}
	if k.Construct == event.MPI || user.IsLevel(k.Fn) { // there Fn is a number
		addrs = addrs[:2]
	}
	for _, addr := range addrs {
		if _, ok := r.at(addr); ok {
			r.constructs[addr] = true
		}
	}
}

// Team implements attribution.Resolver.
func (r *Resolver) Team(site uint64) event.Construct {
	p, ok := r.at(site)
	if !ok {
		return event.Parallel
	}
	name, _, _ := p.object.FuncAt(p.vaddr)
	switch {
	case strings.HasPrefix(name, "GOMP_parallel_loop"):
		return event.ParallelLoop
	case strings.HasPrefix(name, "GOMP_parallel_sections"):
		return event.ParallelSections
	}
	return event.Parallel
}

func (r *Resolver) ident(loc uint64) (symbols.Ident, bool) {
	p, ok := r.at(loc)
	if !ok {
		return symbols.Ident{}, false
	}
	return p.object.Ident(p.vaddr)
}

// Workshare implements attribution.Resolver.
func (r *Resolver) Workshare(loc uint64) event.Construct {
	id, ok := r.ident(loc)
	switch {
	case !ok:
		return event.NoConstruct
	case id.Flags&symbols.IdentSections != 0:
		return event.Sections
	case id.Flags&symbols.IdentDistribute != 0:
		return event.Distribute
	case id.Flags&symbols.IdentLoop != 0:
		if r.isSections(loc, &id) {
			return event.Sections
		}
		return event.Loop
	}
	return event.NoConstruct
}

// isSections tells whether the source has a sections directive at the line of an ident_t that is
// flagged as a loop. Newer LLVM may flag sections as loops.
func (r *Resolver) isSections(loc uint64, id *symbols.Ident) bool {
	p, ok := r.at(loc)
	if !ok || id.Line == 0 {
		return false
	}
	ds, _ := r.named(p.object).Directives(id.File)
	return directives.DivideSections(ds, id.Line)
}

// Barrier implements attribution.Resolver.
func (r *Resolver) Barrier(loc uint64) attribution.BarrierKind {
	id, ok := r.ident(loc)
	switch {
	case !ok:
		return attribution.BarrierUnknown
	case id.Flags&symbols.IdentBarrierExplicit != 0:
		return attribution.BarrierExplicit
	case id.Flags&symbols.IdentBarrierImplicit != 0:
		return attribution.BarrierImplicit
	}
	return attribution.BarrierUnknown
}

// Apart implements attribution.Resolver.
func (r *Resolver) Apart(f attribution.Following) bool {
	share, ok := r.ident(f.Share)
	barrier, known := r.ident(f.Barrier)
	if ok && known && share.Apart(&barrier) {
		return true
	}
	p, ok := r.at(f.Site)
	return ok && kmpc.EndsWithoutBarrier(p.object, p.vaddr)
}

// SingleBarrier implements attribution.Resolver.
func (r *Resolver) SingleBarrier(site, fn uint64) attribution.BarrierKind {
	p, ok := r.at(site)
	if !ok {
		return attribution.BarrierUnknown
	}
	if r.endsByProbe(site) {
		return attribution.BarrierNone
	}
	if asksSource(r.named(p.object)) {
		if reg, ok := r.table(p).At(p.vaddr); ok && reg.Construct == event.Single && reg.Nowait {
			// A barrier that follows belongs to another construct.
			return attribution.BarrierExplicit
		}
	}
	switch gomp.EndOfSingle(p.object, p.vaddr) {
	case gomp.SingleBarrier:
		return attribution.BarrierImplicit
	case gomp.SingleNowait:
		return attribution.BarrierExplicit
	case gomp.SingleLast:
		// This holds only if that function is the region's own; otherwise its caller goes on.
		f, ok := r.at(fn)
		lo, hi, found := p.object.FuncRange(p.vaddr)
		if ok && found && f.object == p.object && lo <= f.vaddr && f.vaddr < hi {
			return attribution.BarrierDropped
		}
		return attribution.BarrierExplicit
	}
	return attribution.BarrierUnknown
}
