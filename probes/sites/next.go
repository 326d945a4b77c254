package sites

import (
	"slices"
	"strings"

	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// Some loops without a barrier need no probe at their end, because the thread's next event tells
// the end. That event is the beginning of another loop, a barrier, or the end of the region. All
// ways from the loop's end lead to such an event, without calls and cycles. So next to no time
// passes in between, and no other event comes.

// mostBehind bounds the instructions between the end of a loop and the event that tells it.
const mostBehind = 100

// cancelling are functions that make a thread leave a loop without a call of its end. Then nothing
// but a probe tells whether a loop has ended or was cancelled.
var cancelling = []string{"__kmpc_cancel", "__kmpc_cancellationpoint", "__kmpc_cancel_barrier"}

// end is the call at the end of a loop that the thread's next event tells. It also holds what is
// executed behind the call until that event.
type end struct {
	Call
	way []uint64
}

// mayCancel tells whether a file may cancel constructs by calls that nobody can find.
func mayCancel(o *symbols.Object) bool {
	return slices.ContainsFunc(cancelling, func(name string) bool { return o.Imports(name) && !o.OnlyCalled(name) })
}

// tellByNext adds the ends to told that the thread's next event tells. region says that the
// function is the body of a parallel region.
func (f *function) tellByNext(o *symbols.Object, region bool) {
	if f.cancels || !f.onlyLoops(o) {
		return
	}
	for _, c := range f.calls {
		if c.Entry != fini || f.told[c.Addr] {
			continue
		}
		w := &ways{body: f.body, stubs: f.stubs, region: region, left: mostBehind, seen: map[uint64]bool{}}
		if c.Control == disasm.Jump && region || c.Control == disasm.Call && w.lead(c.Next()) {
			f.told[c.Addr], f.next = true, true
			f.ends = append(f.ends, end{c, w.way})
		}
	}
}

// onlyLoops tells whether all that begins in the function is known to be a loop or sections. A
// distribute construct has other loops in it.
func (f *function) onlyLoops(o *symbols.Object) bool {
	const share = symbols.IdentLoop | symbols.IdentSections
	for _, at := range f.idents {
		id, ok := o.Ident(at)
		if !ok || id.Flags&share == 0 || id.Flags&symbols.IdentDistribute != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(f.calls, func(c Call) bool {
		return strings.Contains(c.Entry, "dist_") || c.Entry != fini && c.Control != disasm.Call
	})
}

// ways are the ways on from the end of a loop.
type ways struct {
	body   []disasm.Inst
	stubs  map[uint64]string
	region bool
	left   int             // how many more instructions may be on them
	seen   map[uint64]bool // places of the ways; true: all that follows there is known
	way    []uint64        // the instructions on all ways, with the last ones
}

// lead tells whether all ways from an instruction lead straight to an event.
func (w *ways) lead(at uint64) bool {
	if known, ok := w.seen[at]; ok {
		return known // else it is a cycle
	}
	w.seen[at] = false
	w.seen[at] = w.follow(at)
	return w.seen[at]
}

// follow follows the way from an instruction to where it divides or ends.
func (w *ways) follow(at uint64) bool {
	n, ok := slices.BinarySearchFunc(w.body, at, func(i disasm.Inst, at uint64) int { return int(int64(i.Addr - at)) })
	if !ok {
		return false // elsewhere
	}
	for _, i := range w.body[n:] {
		w.way = append(w.way, i.Addr)
		if w.left--; w.left < 0 || i.Locked || strings.HasPrefix(i.Text(), "rep") {
			return false
		}
		switch name := w.stubs[i.Target]; i.Control {
		case disasm.Ret:
			return w.region
		case disasm.Jcc:
			return w.lead(i.Target) && w.lead(i.Next())
		case disasm.Jump:
			return name == Barrier || name == "" && w.lead(i.Target)
		case disasm.Call:
			if name == Barrier || begins(name) || name == "__stack_chk_fail" {
				return true
			}
			if name != "omp_get_thread_num" && name != "omp_get_num_threads" {
				return false
			}
		case disasm.Trap, disasm.JumpIndirect, disasm.CallIndirect:
			return false
		}
	}
	return false
}

// begins tells whether a function of libomp begins a static loop.
func begins(name string) bool { return Entry(name) && name != fini }
