package regions

import (
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// near bounds the distance, in bytes, between the locked instructions of one atomic construct, such
// as the two of a load-linked, store-conditional loop.
const near = 32

// inline finds atomics and flushes of an outlined function without a known source. It looks for
// instructions with a lock prefix, exclusive accesses, and fences.
func (b *builder) inline(f *function, body int) {
	o := b.object
	if f.body == nil {
		f.body, _ = disasm.Func(o, f.lo)
	}
	last := uint64(0)
	for n := range f.body {
		i := &f.body[n]
		construct := inlineConstruct(i)
		if construct == event.NoConstruct || last != 0 && i.Addr-last < near {
			continue
		}
		last = i.Addr
		k := regionKey{code: f.lo, construct: construct, addr: i.Addr}
		r := Region{Construct: construct, Code: f.lo, Parent: body, Found: ByCode, Function: b.functionAt(f, i.Addr), At: i.Addr}
		if fs := o.Frames(i.Addr); len(fs) > 0 {
			at := fs[0]
			r.File, r.Begin, r.BeginLast, r.EndFirst, r.End = at.File, at.Line, at.Line, at.Line, at.Line
			r.BeginNear = true
			r.Found |= ByLine
			k = regionKey{code: f.lo, construct: construct, file: at.File, line: at.Line}
		}
		if _, known := b.made[k]; !known {
			b.made[k] = b.new(r)
		}
	}
}

// inlineConstruct returns the construct that may consist of this one instruction.
func inlineConstruct(i *disasm.Inst) event.Construct {
	switch {
	case i.Locked:
		// GCC's full fence on x86-64: lock or $0,(%rsp).
		if text := strings.ToLower(i.Text()); strings.Contains(text, "or") && strings.Contains(text, "$0x0") && strings.Contains(text, "%rsp") {
			return event.Flush
		}
		return event.Atomic
	case len(i.Bytes) == 3 && i.Bytes[0] == 0x0f && i.Bytes[1] == 0xae && i.Bytes[2] == 0xf0:
		// mfence
		return event.Flush
	}
	return event.NoConstruct
}

// singleBarriers pairs each barrier that ends a single construct of GCC with the call that starts
// the construct.
func singleBarriers(o *symbols.Object, f *function) map[*site]*site {
	pairs := map[*site]*site{}
	var w *flow
	for _, s := range f.sites {
		if s.construct != event.Single || s.role != opens || s.runtime != event.Gomp {
			continue
		}
		if w == nil {
			w = newFlow(o, f)
		}
		if c := w.skips(s); c != nil && c.role == waits {
			pairs[c] = s
		}
	}
	return pairs
}
