package places

import (
	"ompp-attach/probes/inline"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Bind stores which file a code address lies in, as at does, but does not list the modules anew. So
// Bind does not look among unloaded files: another file may lie there by now.
func (r *Resolver) Bind(addr uint64) {
	if _, known := r.bound[addr]; known {
		return
	}
	if m, ok := symbols.Find(r.mods, addr); ok {
		r.bound[addr] = place{m, m.Object(), m.VAddr(addr)}
	}
}

// Code implements attribution.Resolver.
func (r *Resolver) Code(addr uint64) (frames []profile.Frame) {
	p, ok := r.bound[addr]
	if !ok || p.module == nil {
		return nil
	}
	vaddr, atomic := p.vaddr, false
	var places []symbols.Place
	o := r.named(p.object)
	if profile.IsCLibrary(p.module.Path) {
		// The C library's debug information is read neither for lines nor for atomics. That would
		// take 0.15 s of processor time, and nobody changes the C library's lines.
		name, _, _ := o.FuncAt(vaddr)
		places = []symbols.Place{{Function: name}}
	} else {
		if at, ok := inline.AtomicAt(p.object, p.vaddr); ok {
			vaddr, atomic = at, true
		}
		if places = o.Places(vaddr); len(places) == 0 {
			places = []symbols.Place{{}}
		}
	}
	for i, at := range places {
		f := profile.Frame{Function: at.Function, File: at.File, Line: at.Line, Object: p.module.Path, Offset: vaddr,
			Inlined: i < len(places)-1, Atomic: atomic && i == 0}
		if f.Function == "" {
			f.Entry, _, _ = p.object.FuncRange(vaddr)
		}
		frames = append(frames, f)
	}
	return frames
}
