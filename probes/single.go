package probes

import (
	"strings"

	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// SingleEndsWithBarrier tells whether GCC's single construct whose call of
// GOMP_single_start returns to vaddr ends with a barrier or is nowait: a thread
// that is not chosen (al = 0) goes straight to GOMP_barrier, or does not. GCC
// marks neither the end of the body nor the barrier in any other way. known is
// false where the code takes a shape that this does not follow.
func SingleEndsWithBarrier(o *symbols.Object, vaddr uint64) (barrier, known bool) {
	const far = 48 // instructions: a test of al, a few moves, a jump or two
	test := ""
	for range far {
		in, err := insn.Decode(o, vaddr)
		if err != nil {
			return false, false
		}
		next := vaddr + uint64(in.Len)
		switch in.Kind {
		case insn.Call:
			name, ok := o.PLT(in.Target)
			if !ok {
				name, _, _ = o.FuncAt(in.Target)
			}
			return strings.HasPrefix(name, "GOMP_barrier"), test != ""
		case insn.CallIndirect, insn.JumpIndirect:
			// -fno-plt calls through the GOT
			name, ok := o.GOT(in.Ref)
			return ok && strings.HasPrefix(name, "GOMP_barrier"), ok && test != ""
		case insn.Ret:
			return false, test != ""
		case insn.Jump:
			if name, ok := o.PLT(in.Target); ok {
				return strings.HasPrefix(name, "GOMP_barrier"), test != ""
			}
			next = in.Target
		case insn.Jcc:
			if test == "" || in.Cond != insn.Equal && in.Cond != insn.NotEqual {
				return false, false
			}
			// al = 0: `test al, al` finds zero, `cmp al, 1` does not.
			zero := test == "test"
			if zero == (in.Cond == insn.Equal) {
				next = in.Target
			}
			if test == "done" {
				return false, false
			}
			test = "done"
		default:
			text := strings.ToLower(in.String()[strings.Index(in.String(), ": ")+2:])
			switch {
			case test != "" && test != "done":
			case strings.HasPrefix(text, "test"):
				test = "test"
			case strings.HasPrefix(text, "cmp"):
				test = "cmp"
			}
		}
		vaddr = next
	}
	return false, false
}
