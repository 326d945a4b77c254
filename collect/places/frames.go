package places

import (
	"ompp-attach/probes/inline"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Bind stores which file a code address lies in, as at does, but does not list the modules anew.
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
	vaddr, atomic := inline.AtomicAt(p.object, p.vaddr)
	if !atomic {
		vaddr = p.vaddr
	}
	places := placesIn(r.named(p.object), p.module.Path, vaddr)
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

// placesIn returns the functions and lines at an address of a file; at least one. Of the C library
// it returns names only: reading its debug information takes 0.2 s of processor time, and nobody
// changes its lines.
func placesIn(o *symbols.Object, path string, vaddr uint64) []symbols.Place {
	if f := (profile.Frame{Object: path}); f.InCLibrary() {
		name, _, _ := o.FuncAt(vaddr)
		return []symbols.Place{{Function: name}}
	}
	if places := o.Places(vaddr); len(places) > 0 {
		return places
	}
	return []symbols.Place{{}}
}
