package kmpc

import (
	"slices"
	"strings"

	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// The ends of worksharing constructs in a program's own code. From the end of a construct with a
// barrier, all ways lead to the barrier. Where one leads elsewhere,
// the construct has none (nowait).

// How many instructions are looked at, of a construct's body and behind its end.
const (
	mostInShare = 20_000
	mostBehind  = 1_000
)

// EndsWithoutBarrier tells whether a worksharing construct is known to have no barrier. after is
// the address to which the call of libomp returns that begins the construct. If the code is not
// understood, the answer is false.
func EndsWithoutBarrier(o *symbols.Object, after uint64) bool {
	ends, ok := endsOfShare(o, after)
	if !ok {
		return false
	}
	without := false
	w := &walker{o: o, left: mostBehind, seen: map[uint64]bool{}}
	w.walk(ends, func(i disasm.Inst, callee string) (goesOn bool) {
		switch {
		case i.Control == disasm.Ret, beginsShare(callee):
			without = true
		case i.Control == disasm.Jump, i.Control == disasm.JumpIndirect:
			// A call at the function's end.
			_, other := o.PLT(i.Target)
			without = without || callee != "" && (other || i.Control == disasm.JumpIndirect) && !mayBeBarrier(callee)
		default:
			return !mayBeBarrier(callee) && returns(o, i, callee)
		}
		return false
	})
	return without
}

// endsOfShare returns the addresses to which control comes when a thread has done its share.
func endsOfShare(o *symbols.Object, after uint64) (ends []uint64, ok bool) {
	begin := calledBefore(o, after)
	switch {
	case begin == "__kmpc_single":
		end, ok := ifZero(o, after)
		return []uint64{end}, ok
	case strings.Contains(begin, "_dispatch_init_"):
		return endsBehind(o, after, "__kmpc_dispatch_next_", ifZero)
	case strings.Contains(begin, "for_static_init_"):
		return endsBehind(o, after, "__kmpc_for_static_fini", nil)
	case begin == "__kmpc_scope":
		return endsBehind(o, after, "__kmpc_end_scope", nil)
	}
	return nil, false
}

// endsBehind follows the code of a construct to the calls of libomp that may end it. then says
// where control goes behind a call of the function end; nil: straight on. ok is false if not all
// such calls are known.
func endsBehind(o *symbols.Object, after uint64, end string, then func(*symbols.Object, uint64) (uint64, bool)) (ends []uint64, ok bool) {
	ok = true
	w := &walker{o: o, left: mostInShare, seen: map[uint64]bool{}}
	w.walk([]uint64{after}, func(i disasm.Inst, callee string) (goesOn bool) {
		switch {
		case beginsShare(callee), strings.HasPrefix(callee, "__kmpc_serialized_parallel"):
			ok = false // of an inner region
		case strings.HasPrefix(callee, end) && i.Control != disasm.Call && i.Control != disasm.CallIndirect:
			ok = false // the function ends there
		case strings.HasPrefix(callee, end):
			next, known := i.Next(), true
			if then != nil {
				next, known = then(o, i.Next())
			}
			ends, ok = append(ends, next), ok && known
		default:
			return ok && i.Control != disasm.Ret && i.Control != disasm.Jump && i.Control != disasm.JumpIndirect
		}
		return false
	})
	return ends, ok && len(ends) > 0
}

// ifZero returns the address to which control comes behind a call that has answered 0.
func ifZero(o *symbols.Object, after uint64) (addr uint64, ok bool) {
	const far = 16 // instructions that are looked at
	test := disasm.NotTested
	for addr = after; addr < after+far*16; {
		i, err := disasm.Decode(o, addr)
		switch {
		case err != nil:
			return 0, false
		case i.Control == disasm.Jcc:
			taken, ok := test.TakenForZero(&i)
			if taken {
				return i.Target, ok
			}
			return i.Next(), ok
		case i.Transfers():
			return 0, false
		}
		test, addr = test.Behind(&i), i.Next()
	}
	return 0, false
}

// calledBefore returns the name of the function whose call returns to an address.
func calledBefore(o *symbols.Object, after uint64) string {
	lengths := []uint64{5, 6} // through the PLT; through a slot
	if o.Arch() != "amd64" {
		lengths = []uint64{4}
	}
	for _, n := range lengths {
		i, err := disasm.Decode(o, after-n)
		if err == nil && i.Next() == after && (i.Control == disasm.Call || i.Control == disasm.CallIndirect) {
			if name := callee(o, i); strings.HasPrefix(name, "__kmpc_") {
				return name
			}
		}
	}
	return ""
}

// callee returns the name of the function that an instruction calls, or jumps to; "":
// none is known.
func callee(o *symbols.Object, i disasm.Inst) string {
	switch i.Control {
	case disasm.CallIndirect, disasm.JumpIndirect:
		name, _ := o.GOT(i.Ref)
		return name
	case disasm.Call, disasm.Jump:
		if name, ok := o.PLT(i.Target); ok {
			return name
		}
		if name, start, ok := o.FuncAt(i.Target); ok && start == i.Target {
			return name
		}
	}
	return ""
}

// beginsShare tells whether a function of libomp begins a worksharing construct.
func beginsShare(name string) bool {
	return strings.HasPrefix(name, "__kmpc_") && (strings.Contains(name, "_static_init_") || strings.Contains(name, "_dispatch_init_")) ||
		name == "__kmpc_single" || name == "__kmpc_scope"
}

// mayBeBarrier tells whether a function may end the construct before it, or leave it early.
func mayBeBarrier(name string) bool {
	return slices.Contains([]string{"__kmpc_barrier", "__kmpc_reduce", "__kmpc_copyprivate", "__kmpc_copyprivate_light"}, name) ||
		strings.HasPrefix(name, "__kmpc_cancel")
}

// endless are functions that do not return.
var endless = []string{"abort", "exit", "_exit", "_Exit", "quick_exit", "longjmp", "__longjmp_chk", "__assert_fail",
	"__stack_chk_fail", "__cxa_throw", "__cxa_rethrow", "_Unwind_Resume", "_ZSt9terminatev"}

// returns tells whether a call returns without having been through the barrier of the construct
// before it. Compilers may move a barrier's call to a function, but not together with another
// construct. Functions of other files are taken to return unless their names say otherwise.
func returns(o *symbols.Object, call disasm.Inst, name string) bool {
	if call.Control == disasm.CallIndirect {
		return name != "" && !slices.Contains(endless, name)
	}
	if _, ok := o.PLT(call.Target); ok {
		return !slices.Contains(endless, name)
	}
	body, err := disasm.Func(o, call.Target)
	calls := func(of func(string) bool) bool {
		return slices.ContainsFunc(body, func(i disasm.Inst) bool { return of(callee(o, i)) })
	}
	return err == nil && slices.ContainsFunc(body, func(i disasm.Inst) bool { return i.Control == disasm.Ret }) &&
		(!calls(mayBeBarrier) || calls(beginsShare))
}

// walker follows the ways through a program's code.
type walker struct {
	o    *symbols.Object
	left int // how many more instructions may be looked at
	seen map[uint64]bool
}

// walk follows all ways from some addresses. visit is told each call, jump to another function, and
// return, and says whether the way goes on there.
func (w *walker) walk(from []uint64, visit func(i disasm.Inst, callee string) (goesOn bool)) {
	for todo := slices.Clone(from); len(todo) > 0; {
		addr := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !w.seen[addr] && w.left > 0 {
			w.seen[addr] = true
			w.left--
			i, err := disasm.Decode(w.o, addr)
			if err != nil {
				break
			}
			addr = i.Next()
			name := callee(w.o, i)
			switch i.Control {
			case disasm.Jcc:
				todo = append(todo, i.Target)
				continue
			case disasm.Jump:
				if name == "" {
					addr = i.Target
					continue
				}
			case disasm.Trap:
			case disasm.Call, disasm.CallIndirect, disasm.Ret, disasm.JumpIndirect:
			default:
				continue
			}
			if i.Control == disasm.Trap || !visit(i, name) {
				break
			}
		}
	}
}
