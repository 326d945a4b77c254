package unwind

// DWARF numbers of registers.
const (
	AMD64RBX = 3
	AMD64RBP = 6
	AMD64RSP = 7
	ARM64FP  = 29
	ARM64LR  = 30
	ARM64SP  = 31
)

// Registers holds what is known of a frame's registers.
type Registers struct {
	PC          uint64 // next instruction; 0: there is no such frame
	Interrupted bool   // by a signal: PC is not the return address of a call
	known       uint64
	value       [numRegisters]uint64
}

// Set sets the value of a register, given by its DWARF number.
func (r *Registers) Set(reg int, v uint64) {
	r.value[reg] = v
	r.known |= 1 << reg
}

// Get returns the value of a register, given by its DWARF number.
func (r *Registers) Get(reg int) (v uint64, known bool) {
	if uint(reg) >= numRegisters || r.known&(1<<reg) == 0 {
		return 0, false
	}
	return r.value[reg], true
}

// ReturnOffset returns the distance, in bytes, of the return address from the stack pointer at pc,
// a vaddr. ok is false if this distance is not fixed there. If it is, one word of the stack
// suffices to find the caller.
func (t *Table) ReturnOffset(pc uint64) (aboveSP int64, ok bool) {
	f := t.find(pc)
	if f == nil {
		return 0, false
	}
	w, ok := f.row(pc)
	ra := w.regs[f.cie.ra]
	return w.cfa.value + ra.value, ok && w.cfa.kind == regOffset && int(w.cfa.reg) == t.sp() && ra.kind == offset
}

func (t *Table) sp() int {
	if t.arm64 {
		return ARM64SP
	}
	return AMD64RSP
}

// Step finds the frame of the caller of the function that covers pc, a vaddr of the table's object.
// If the frame waits for a call to return, pc must be one byte before the return address, because
// the return address itself may lie in another function. read reads eight bytes of the stack. The
// caller's PC is 0 behind the outermost frame. ok is false if the object has no information for pc,
// or if a value that is needed is not known.
func (t *Table) Step(pc uint64, regs Registers, read func(addr uint64) (uint64, bool)) (caller Registers, ok bool) {
	f := t.find(pc)
	if f == nil {
		return caller, false
	}
	w, ok := f.row(pc)
	if !ok {
		return caller, false
	}
	m := machine{regs: &regs, read: read, amd64: !t.arm64}
	var cfa uint64
	switch w.cfa.kind {
	case regOffset:
		cfa, ok = regs.Get(int(w.cfa.reg))
		cfa += uint64(w.cfa.value)
	case valExpression:
		cfa, ok = m.eval(f.expression(w.cfa))
	default:
		ok = false
	}
	ra, sp := int(f.cie.ra), t.sp()
	// Stacks grow down. Only the frame of a signal may be on another stack. A function of arm64
	// that calls nothing may use no stack.
	if below, known := regs.Get(sp); !ok || known && !f.cie.signal && (cfa < below || cfa == below && !t.arm64) {
		return caller, false
	}
	caller = regs
	caller.Interrupted = f.cie.signal
	if !t.arm64 {
		// the column of the return address is a column of its own, not a register that could be
		// kept
		caller.known &^= 1 << ra
	}
	caller.Set(sp, cfa)
	for reg := range numRegisters {
		if w.set&(1<<reg) == 0 {
			continue
		}
		r := w.regs[reg]
		if r.kind == unspecified || r.kind == same {
			continue
		}
		v, known := m.restored(f, r, cfa)
		if caller.known &^= 1 << reg; known {
			caller.Set(reg, v)
		}
	}
	if w.regs[ra].kind == undefined {
		caller.PC = 0
		return caller, true
	}
	if caller.PC, ok = caller.Get(ra); t.arm64 {
		// The upper bits may hold a signature. They are 0 in the addresses of a program, unless the
		// program asks for more than 48 bits.
		caller.PC &= 1<<48 - 1
	}
	return caller, ok
}

// restored returns the caller's value of a register, by the rule r of the function f. known is
// false if the value cannot be found.
func (m *machine) restored(f *fde, r rule, cfa uint64) (v uint64, known bool) {
	switch r.kind {
	case offset:
		return m.read(cfa + uint64(r.value))
	case valOffset:
		return cfa + uint64(r.value), true
	case register:
		return m.regs.Get(int(r.reg))
	case expression:
		if v, known = m.eval(f.expression(r), cfa); known {
			return m.read(v)
		}
	case valExpression:
		return m.eval(f.expression(r), cfa)
	}
	return v, false
}
