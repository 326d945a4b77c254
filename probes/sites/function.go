package sites

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// function is a function that calls an entry point.
type function struct {
	lo    uint64
	calls []Call
	told  map[uint64]bool // calls that end a loop, which another event tells
	// The ident_t of its only loop; 0: it has several loops, or the ident_t is not known.
	ident uint64
	other bool // it calls functions of libomp that may belong to its loop
	loops int  // the number of calls that begin loops

	body    []disasm.Inst
	stubs   map[uint64]string
	idents  []uint64 // the ident_t of each loop; 0: it is not known
	cancels bool     // it may cancel a construct
	next    bool     // the thread's next event tells the ends of some of its loops
	ends    []end    // these ends
}

// functionsOf decodes the functions around the given branches. The error says which branch is in no
// function that can be read, or is no call and no jump.
func functionsOf(o *symbols.Object, branches []uint64) (fs []*function, err error) {
	stubs := o.Stubs()
	left := slices.Clone(branches)
	for len(left) > 0 {
		lo, hi, ok := o.FuncRange(left[0])
		if !ok {
			return nil, fmt.Errorf("what looks like a call at %#x is in no known function", left[0])
		}
		body, err := disasm.Func(o, lo)
		if err != nil {
			return nil, fmt.Errorf("the function at %#x cannot be read: %w", lo, err)
		}
		f := &function{lo: lo, told: map[uint64]bool{}, body: body, stubs: stubs}
		f.look(o)
		for len(left) > 0 && left[0] < hi {
			at := left[0]
			if !slices.ContainsFunc(f.calls, func(c Call) bool { return c.Addr == at }) {
				return nil, fmt.Errorf("what looks like a call at %#x is none, or cannot have a probe", at)
			}
			left = left[1:]
		}
		fs = append(fs, f)
	}
	return fs, nil
}

// look finds the calls of libomp in the function's code.
func (f *function) look(o *symbols.Object) {
	// The last end of a loop, from which control has gone straight to last.
	var ended, last disasm.Inst
	values.Constants(f.body, func(i disasm.Inst, arg func(int) (uint64, bool)) {
		name := f.stubs[i.Target]
		direct := i.Control == disasm.Call || i.Control == disasm.Jump
		if i.Addr != last.Next() {
			ended = disasm.Inst{}
		}
		if ended.Len > 0 && direct && name == Barrier && endsLoop(o, arg) {
			f.told[ended.Addr] = true
		}
		switch last = i; {
		case i.Control == disasm.Call && name == fini:
			ended = i
		case i.Transfers():
			ended = disasm.Inst{}
		}
		switch {
		case !direct || name == "":
			return
		case Entry(name) && !i.Refused && i.Emulated:
			f.calls = append(f.calls, Call{Inst: i, Entry: name})
			if name != fini {
				f.loops++
				f.ident, _ = arg(0)
				f.idents = append(f.idents, f.ident)
			}
			f.other = f.other || strings.Contains(name, "dist_") || i.Control == disasm.Jump && name != fini
		case strings.HasPrefix(name, "__kmpc_") && !besides(name):
			f.other = true
			f.cancels = f.cancels || slices.Contains(cancelling, name)
		}
	})
	if f.loops != 1 {
		f.ident = 0
	}
}

// endsLoop tells whether the ident_t of a barrier says that the barrier ends a construct.
func endsLoop(o *symbols.Object, arg func(int) (uint64, bool)) bool {
	at, ok := arg(0)
	if !ok {
		return false
	}
	id, ok := o.Ident(at)
	return ok && id.Flags&(symbols.IdentBarrierExplicit|symbols.IdentBarrierImplicit) == symbols.IdentBarrierImplicit
}

// besides tells whether a function of libomp has nothing to do with the loop around its call. Not
// among these are barriers, reductions with a barrier, other worksharing, and cancellation: they
// belong to a loop.
func besides(name string) bool {
	return slices.Contains([]string{"__kmpc_global_thread_num", "__kmpc_fork_call", "__kmpc_push_num_threads",
		"__kmpc_serialized_parallel", "__kmpc_end_serialized_parallel", "__kmpc_reduce_nowait", "__kmpc_end_reduce_nowait",
		"__kmpc_critical", "__kmpc_critical_with_hint", "__kmpc_end_critical", "__kmpc_flush"}, name) ||
		strings.HasPrefix(name, "__kmpc_atomic_")
}

// wholeOf tells whether one directive (parallel for) makes both the function's only loop and the
// parallel regions that execute the function. It returns that directive. forks are the ident_t of
// the regions.
func (f *function) wholeOf(o *symbols.Object, forks []uint64) (id symbols.Ident, ok bool) {
	if f.ident == 0 || f.other || len(forks) == 0 || len(f.calls) < 2 {
		return id, false
	}
	id, ok = o.Ident(f.ident)
	const loop = symbols.IdentLoop
	if !ok || id.Line == 0 || id.Flags&(loop|symbols.IdentSections|symbols.IdentDistribute) != loop || saysSections(o, &id) {
		return id, false
	}
	id.Flags = 0
	for _, at := range forks {
		region, ok := o.Ident(at)
		region.Flags = 0
		if !ok || region != id {
			return id, false
		}
	}
	return id, true
}

// saysSections tells whether the source has a sections directive at a line: libomp's flags may call
// that a loop.
func saysSections(o *symbols.Object, id *symbols.Ident) bool {
	ds, _ := o.Directives(id.File)
	for i := range ds {
		if d := &ds[i]; d.Begin <= id.Line && id.Line <= d.Last && slices.Contains(strings.Fields(d.Words), "sections") {
			return true
		}
	}
	return false
}

// regionsOf returns the ident_t of the forks that execute each of some functions, 0 for one that is
// not known.
func regionsOf(o *symbols.Object, fs []*function) map[uint64][]uint64 {
	forks := map[uint64][]uint64{}
	wanted := map[uint64]bool{}
	for _, f := range fs {
		wanted[f.lo] = true
	}
	stubs := o.Stubs()
	last := uint64(0)
	for _, at := range o.Branches(o.Targets(fork)) {
		lo, hi, ok := o.FuncRange(at)
		if !ok || at < last {
			continue
		}
		last = hi
		body, _ := disasm.Func(o, lo) // of what cannot be decoded, what comes before
		values.Constants(body, func(i disasm.Inst, arg func(int) (uint64, bool)) {
			if stubs[i.Target] != fork {
				return
			}
			if fn, ok := arg(2); ok && wanted[fn] {
				ident, _ := arg(0)
				forks[fn] = append(forks[fn], ident)
			}
		})
	}
	return forks
}
