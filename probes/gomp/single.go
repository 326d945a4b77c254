package gomp

import (
	"strings"

	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// SingleEnd says how a single construct ends.
type SingleEnd uint8

// The ends of a single construct.
const (
	SingleUnknown SingleEnd = iota // the code has a shape that is not followed
	SingleBarrier                  // with a barrier
	SingleNowait                   // without a barrier: other code follows
	// at the end of its function: GCC drops a barrier before a region's end
	SingleLast
)

// EndOfSingle finds out how a single construct of GCC's code ends. vaddr is the address to which
// the call of GOMP_single_start returns. A thread that is not chosen (al = 0) goes on straight to
// GOMP_barrier, or to other code. That tells the end. GCC marks neither the end of the body nor the
// barrier in any other way.
func EndOfSingle(o *symbols.Object, vaddr uint64) SingleEnd {
	const far = 48 // instructions that are looked at: a test of al, a few moves, a jump or two
	test := disasm.NotTested
	for range far {
		in, err := disasm.Decode(o, vaddr)
		if err != nil {
			return SingleUnknown
		}
		next := vaddr + uint64(in.Len)
		switch in.Control {
		case disasm.Call:
			name, ok := o.PLT(in.Target)
			if !ok {
				name, _, _ = o.FuncAt(in.Target)
			}
			return called(name, test)
		case disasm.CallIndirect, disasm.JumpIndirect: // -fno-plt: through the GOT
			name, ok := o.GOT(in.Ref)
			if !ok {
				return SingleUnknown
			}
			return called(name, test)
		case disasm.Ret:
			if test == disasm.NotTested {
				return SingleUnknown
			}
			return SingleLast
		case disasm.Jump:
			if name, ok := o.PLT(in.Target); ok {
				return called(name, test)
			}
			if name, start, ok := o.FuncAt(in.Target); ok && start == in.Target { // static programs
				return called(name, test)
			}
			next = in.Target
		case disasm.Jcc:
			// No decision other than the test of al comes before a barrier.
			if test == disasm.Decided {
				return SingleNowait
			}
			taken, ok := test.TakenForZero(&in)
			if !ok {
				return SingleUnknown
			}
			if taken {
				next = in.Target
			}
			test = disasm.Decided
		default:
			test = test.Behind(&in)
		}
		vaddr = next
	}
	return SingleUnknown
}

func called(name string, test disasm.ResultTest) SingleEnd {
	switch {
	case test == disasm.NotTested: // the outcome has not been tested yet
		return SingleUnknown
	case strings.HasPrefix(name, "GOMP_barrier"):
		return SingleBarrier
	}
	return SingleNowait
}
