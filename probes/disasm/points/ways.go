package points

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm"
)

// Way is an exit of a function, as Exits finds it, and what happens behind it.
type Way struct {
	Exit
	// Lift is what has to be added to the stack pointer at the exit's instruction to get the one at
	// the function's entry, in bytes.
	Lift int64
	// Target is the function to which a jump leaves; 0: the function returns, or the jump is
	// through a register.
	Target uint64
}

// Ways returns the exits of the function at entry, with what Exits does not tell. An instruction
// before a return is taken only if the stack pointer there is known; otherwise it is the return.
func Ways(code disasm.Code, entry uint64, isPart func(target uint64) bool) (ways []Way, unseen int, err error) {
	exits, unseen, err := Exits(code, entry, isPart)
	if err != nil {
		return nil, 0, err
	}
	parts, err := ownParts(code, entry, isPart)
	if err != nil {
		return nil, 0, err
	}
	body := slices.Concat(parts...)
	inside := func(target uint64) bool {
		return slices.ContainsFunc(parts, func(p []disasm.Inst) bool { return target >= p[0].Addr && target < p[len(p)-1].Next() })
	}
	known := true
	for _, x := range exits {
		w := Way{Exit: x}
		switch i := x.Inst; {
		case i.Control == disasm.Ret, i.Control == disasm.JumpIndirect:
		case x.jumps() && !inside(i.Target):
			w.Target = i.Target
		default:
			var ok bool
			w.Lift, ok = lift(body, x.Approach)
			known = known && ok
		}
		ways = append(ways, w)
	}
	if known {
		return ways, unseen, nil
	}
	ways = slices.DeleteFunc(ways, func(w Way) bool {
		i := w.Inst
		return i.Control == disasm.Ret || i.Control != disasm.JumpIndirect && w.Target == 0
	})
	for _, i := range body {
		if i.Control == disasm.Ret {
			ways = append(ways, Way{Exit: Exit{Approach: Approach{Inst: i}}})
		}
	}
	return ways, unseen, nil
}

// jumps reports whether the instruction of an approach is a jump that is taken.
func (a Approach) jumps() bool {
	return a.Inst.Control == disasm.Jump || a.Inst.Control == disasm.Jcc && (a.When == ZeroSet) == (a.Inst.Cond == disasm.Equal)
}

// lift follows the one way from an approach to its return, and adds up what that does to the stack
// pointer.
func lift(body []disasm.Inst, from Approach) (bytes int64, ok bool) {
	const longest = 64
	at := map[uint64]int{}
	for n, i := range body {
		at[i.Addr] = n
	}
	i := from.Inst
	for n := range longest {
		next := i.Next()
		switch {
		case i.Control == disasm.Ret:
			return bytes, true
		case i.Control == disasm.Jump:
			next = i.Target
		case i.Control == disasm.Jcc:
			if n > 0 {
				return 0, false
			}
			if from.jumps() {
				next = i.Target
			}
		default:
			moved, ok := moves(i)
			if !ok {
				return 0, false
			}
			bytes += moved
		}
		k, ok := at[next]
		if !ok {
			return 0, false
		}
		i = body[k]
	}
	return 0, false
}

// moves returns what an instruction adds to the stack pointer; ok is false if that is not known.
func moves(i disasm.Inst) (bytes int64, ok bool) {
	if i.Transfers() {
		return 0, false
	}
	if i.Arch != "amd64" {
		return 0, !i.WritesSP
	}
	d, ok := i.X86()
	if !ok {
		return 0, false
	}
	switch d.Op {
	case x86asm.PUSH:
		return -8, isWide(d.Args[0])
	case x86asm.POP:
		return 8, isWide(d.Args[0]) && d.Args[0] != x86asm.RSP
	case x86asm.ADD, x86asm.SUB:
		if d.Args[0] != x86asm.RSP {
			return 0, !i.WritesSP
		}
		n, ok := d.Args[1].(x86asm.Imm)
		if d.Op == x86asm.SUB {
			n = -n
		}
		return int64(n), ok
	case x86asm.LEA:
		m, ok := d.Args[1].(x86asm.Mem)
		if d.Args[0] != x86asm.RSP {
			return 0, !i.WritesSP
		}
		return m.Disp, ok && m.Base == x86asm.RSP && m.Index == 0
	}
	return 0, !i.WritesSP
}

// isWide reports whether an operand is a 64-bit register.
func isWide(a x86asm.Arg) bool {
	r, ok := a.(x86asm.Reg)
	return ok && r >= x86asm.RAX && r <= x86asm.R15
}
