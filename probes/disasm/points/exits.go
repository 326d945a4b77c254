package points

import (
	"encoding/binary"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm"
)

// Exit is a place through which control leaves a function for good.
type Exit struct {
	Approach
	// Unsure: the exit is a jump through a register, which may belong to a switch and stay inside.
	// At a true exit the stack pointer is what it was at the entry.
	Unsure bool
}

// Exits returns the instructions at which executions of the function at entry end. Each execution
// ends at exactly one of them: at a point on the way to a return, or at a jump to another function.
// A jump may lead to another range of code. isPart reports whether the range that begins at an
// address is a part of this function (.cold). unseen is the number of exits whose condition no
// probe can repeat.
func Exits(code disasm.Code, entry uint64, isPart func(target uint64) bool) (exits []Exit, unseen int, err error) {
	parts, err := ownParts(code, entry, isPart)
	if err != nil {
		return nil, 0, err
	}
	inside := func(target uint64) bool {
		return slices.ContainsFunc(parts, func(p []disasm.Inst) bool {
			return target >= p[0].Addr && target < p[len(p)-1].Next()
		})
	}
	for _, p := range parts {
		for k, i := range p {
			switch {
			case i.Control == disasm.Ret:
				for _, a := range Approaches(parts, i.Addr) {
					exits = append(exits, Exit{Approach: a})
				}
			case i.Control == disasm.Jump && !inside(i.Target):
				exits = append(exits, Exit{Approach: Approach{i, Always}})
			case i.Control == disasm.Jcc && !inside(i.Target):
				switch i.Cond {
				case disasm.Equal:
					exits = append(exits, Exit{Approach: Approach{i, ZeroSet}})
				case disasm.NotEqual:
					exits = append(exits, Exit{Approach: Approach{i, ZeroClear}})
				default:
					unseen++
				}
			case i.Control == disasm.JumpIndirect && !isSwitch(p[:k+1]):
				exits = append(exits, Exit{Approach: Approach{i, Always}, Unsure: i.Ref == 0})
			}
		}
	}
	return exits, unseen, nil
}

// ownParts returns the function at entry with the parts that the compiler moved elsewhere.
func ownParts(code disasm.Code, entry uint64, isPart func(uint64) bool) ([][]disasm.Inst, error) {
	all, err := disasm.Parts(code, entry)
	if err != nil {
		return nil, err
	}
	parts := all[:1:1]
	for _, p := range all[1:] {
		if isPart(p[0].Addr) || jumpsInto(p, all[0]) {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// jumpsInto reports whether a range jumps into the middle of a function, as only the function's own
// parts do.
func jumpsInto(part, function []disasm.Inst) bool {
	lo, hi := function[0].Addr, function[len(function)-1].Next()
	return slices.ContainsFunc(part, func(i disasm.Inst) bool {
		return (i.Control == disasm.Jump || i.Control == disasm.Jcc) && i.Target > lo && i.Target < hi
	})
}

// isSwitch reports whether the last instruction, a jump through a register or memory, takes its
// destination from a table. Then that instruction, or one shortly before it, loads from an indexed
// address.
func isSwitch(line []disasm.Inst) bool {
	const notrack, few = 0x3e, 8
	last := line[len(line)-1]
	// compilers put this prefix on switches only
	if last.Arch == "amd64" && last.Bytes[0] == notrack {
		return true
	}
	for n := 0; n < few && n < len(line); n++ {
		i := line[len(line)-1-n]
		if n > 0 && i.Ends() {
			break
		}
		if loadsIndexed(i) {
			return true
		}
	}
	return false
}

// loadsIndexed reports whether an instruction reads a table's element.
func loadsIndexed(i disasm.Inst) bool {
	if i.Arch == "arm64" {
		const mask, registerOffset = 0x3b200c00, 0x38200800 // ldr x, [x, x, lsl]
		return len(i.Bytes) == 4 && binary.LittleEndian.Uint32(i.Bytes)&mask == registerOffset
	}
	d, err := x86asm.Decode(i.Bytes, 64)
	if err != nil || d.Op == x86asm.LEA {
		return false
	}
	for _, a := range d.Args {
		if m, ok := a.(x86asm.Mem); ok && m.Index != 0 && m.Scale >= 4 {
			return true
		}
	}
	return false
}
