package regions

import (
	"slices"

	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// Tail returns the region of a construct, the call of which is a jump, and that jump. The jump ends
// the function at fn, or a function to which the last jumps of fn lead. To the runtime, the caller
// of fn is the caller. ok is false if several regions are possible.
func (t *Table) Tail(o *symbols.Object, fn uint64, kind event.Construct) (found Region, at Site, ok bool) {
	ways, which := []uint64{fn}, -1
	for i := 0; i < len(ways); i++ {
		for n, r := range t.Regions {
			if r.Code != ways[i] {
				continue
			}
			for _, s := range r.Sites {
				c, _ := callOf(s.Call)
				if !s.Tail || c.construct != kind {
					continue
				}
				if ok && n != which && (r.Begin == 0 || found.Begin != r.Begin || found.File != r.File) {
					return Region{}, Site{}, false
				}
				found, at, which, ok = r, s, n, true
			}
		}
		for _, to := range lastJumps(o, ways[i]) {
			if !slices.Contains(ways, to) {
				ways = append(ways, to)
			}
		}
	}
	return found, at, ok
}

// lastJumps returns the functions of the file to which direct jumps lead from the function at fn.
func lastJumps(o *symbols.Object, fn uint64) (to []uint64) {
	lo, hi, ok := o.FuncRange(fn)
	if !ok {
		return nil
	}
	body, _ := disasm.Func(o, lo) // the code before the first part that cannot be decoded
	for _, i := range body {
		if i.Control != disasm.Jump && i.Control != disasm.Jcc || i.Target >= lo && i.Target < hi {
			continue
		}
		if start, _, ok := o.FuncRange(i.Target); ok && start == i.Target {
			to = append(to, start)
		}
	}
	return to
}
