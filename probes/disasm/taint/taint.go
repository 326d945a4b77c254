// Package taint finds what the conditions and divisions of a function depend on, such as a thread's
// number.
package taint

import (
	"maps"

	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
)

// Set is a set of origins of a value: bit i says that the value depends on the i-th origin.
type Set uint8

// The results of a division by a traced value depend on these as well.
const (
	Quotient  Set = 1 << 7
	Remainder Set = 1 << 6
)

// Dependence says what the conditions and divisions of a function depend on, by the instruction's
// address.
type Dependence struct {
	Flags map[uint64]Set // conditional jump or move: the origins of its condition
	// conditional jump: the origins of the value that test r,r or cmp $0 compared with zero right
	// before
	Zero     map[uint64]Set
	Dividend map[uint64]Set // division
	Divisor  map[uint64]Set
}

// frameSlot is a place in the function's frame.
type frameSlot struct {
	base x86asm.Reg
	disp int64
}

// taints holds what the registers and the frame depend on at a point. Values in other memory count
// as independent.
type taints struct {
	regs  [32]Set // general, then xmm
	flags Set
	zero  Set               // of the value that the flags compare with zero
	frame map[frameSlot]Set // only places that depend on something: few functions have one
}

func (t *taints) clone() *taints {
	c := *t
	c.frame = maps.Clone(t.frame)
	return &c
}

// store sets what a place in the frame depends on.
func (t *taints) store(s frameSlot, v Set) {
	if v == 0 {
		delete(t.frame, s)
		return
	}
	if t.frame == nil {
		t.frame = map[frameSlot]Set{}
	}
	t.frame[s] = v
}

// join adds what the values of another way depend on. It reports whether that is new.
func (t *taints) join(o *taints) (changed bool) {
	add := func(into *Set, v Set) {
		if *into|v != *into {
			*into |= v
			changed = true
		}
	}
	for r := range t.regs {
		add(&t.regs[r], o.regs[r])
	}
	add(&t.flags, o.flags)
	add(&t.zero, o.zero)
	for k, v := range o.frame {
		if f := t.frame[k]; f|v != f {
			t.store(k, f|v)
			changed = true
		}
	}
	return changed
}

// Trace follows values through the function of a graph. For a call, source returns what the call's
// result depends on. For another instruction, it returns what the instruction adds to its operands.
// Registers that a call destroys are not cleared, since no code reads them. Only x86-64 is
// supported.
func Trace(g *graph.Graph, source func(disasm.Inst) Set) *Dependence {
	f := &Dependence{map[uint64]Set{}, map[uint64]Set{}, map[uint64]Set{}, map[uint64]Set{}}
	if len(g.Blocks) == 0 || g.Blocks[0].Insts[0].Arch != "amd64" {
		return f
	}
	in := make([]*taints, len(g.Blocks))
	var work []int
	enter := func(n int, t *taints) {
		if in[n] == nil {
			in[n] = t.clone()
		} else if !in[n].join(t) {
			return
		}
		work = append(work, n)
	}
	enter(0, &taints{})
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		t, b := in[n].clone(), &g.Blocks[n]
		for _, i := range b.Insts {
			f.step(t, i, source)
			if v := source(i); v != 0 && i.Control == disasm.Other {
				t.mark(i, v)
			}
		}
		for _, s := range b.Succs {
			enter(s, t)
		}
		if b.After >= 0 {
			enter(b.After, t)
		}
	}
	return f
}

func regTaint(r x86asm.Reg) int {
	if n, _ := disasm.RegX86(r); n != disasm.NoReg {
		return int(n)
	}
	if r >= x86asm.X0 && r <= x86asm.X15 {
		return 16 + int(r-x86asm.X0)
	}
	return -1
}

func slotOf(m x86asm.Mem) (frameSlot, bool) {
	if m.Index != 0 || m.Base != x86asm.RSP && m.Base != x86asm.RBP {
		return frameSlot{}, false
	}
	return frameSlot{m.Base, disasm.DispX86(m)}, true
}

func (t *taints) get(a x86asm.Arg) Set {
	switch a := a.(type) {
	case x86asm.Reg:
		if r := regTaint(a); r >= 0 {
			return t.regs[r]
		}
	case x86asm.Mem:
		if s, ok := slotOf(a); ok {
			return t.frame[s]
		}
	}
	return 0
}

func (t *taints) set(a x86asm.Arg, v Set) {
	switch a := a.(type) {
	case x86asm.Reg:
		if r := regTaint(a); r >= 0 && r != int(disasm.RSP) {
			t.regs[r] = v
		}
	case x86asm.Mem:
		if s, ok := slotOf(a); ok {
			t.store(s, v)
		}
	}
}

// address returns what a computed address depends on.
func (t *taints) address(m x86asm.Mem) (v Set) {
	for _, r := range []x86asm.Reg{m.Base, m.Index} {
		if n := regTaint(r); r != 0 && n >= 0 && n != int(disasm.RSP) {
			v |= t.regs[n]
		}
	}
	return v
}

// step applies one instruction, and records what its condition or division depends on.
func (f *Dependence) step(t *taints, i disasm.Inst, source func(disasm.Inst) Set) {
	switch i.Control {
	case disasm.Call, disasm.CallIndirect:
		t.regs[disasm.RAX], t.flags, t.zero = source(i), 0, 0
		return
	case disasm.Jcc:
		f.Flags[i.Addr] |= t.flags
		f.Zero[i.Addr] |= t.zero
		return
	case disasm.Other:
	default:
		return
	}
	d, ok := i.X86()
	if !ok {
		t.unknown(i)
		return
	}
	switch d.Op {
	case x86asm.MOV, x86asm.MOVSX, x86asm.MOVZX, x86asm.MOVSXD, x86asm.MOVD, x86asm.MOVQ:
		t.set(d.Args[0], t.get(d.Args[1]))
	case x86asm.LEA:
		if m, ok := d.Args[1].(x86asm.Mem); ok {
			t.set(d.Args[0], t.address(m))
		}
	case x86asm.CMP, x86asm.TEST:
		t.compare(d)
	case x86asm.DIV, x86asm.IDIV:
		f.divide(t, i, t.get(d.Args[0]))
	case x86asm.CDQ, x86asm.CQO:
		t.regs[disasm.RDX] = t.regs[disasm.RAX]
	case x86asm.CDQE, x86asm.CWDE, x86asm.NOP:
	case x86asm.MUL:
		t.regs[disasm.RAX] |= t.get(d.Args[0])
		t.regs[disasm.RDX] = t.regs[disasm.RAX]
	case x86asm.XOR, x86asm.SUB:
		if d.Args[0] == d.Args[1] {
			t.set(d.Args[0], 0)
			t.flags, t.zero = 0, 0
			return
		}
		t.arithmetic(d)
	case x86asm.XCHG:
		a, b := t.get(d.Args[0]), t.get(d.Args[1])
		t.set(d.Args[0], b)
		t.set(d.Args[1], a)
	case x86asm.POP:
		t.set(d.Args[0], 0)
	default:
		if conditional(d.Op) {
			f.Flags[i.Addr] |= t.flags
			t.setIf(d)
			return
		}
		t.arithmetic(d)
	}
}

// compare makes the flags depend on what is compared.
func (t *taints) compare(d x86asm.Inst) {
	a, b := t.get(d.Args[0]), t.get(d.Args[1])
	t.flags, t.zero = a|b, 0
	if imm, isImm := d.Args[1].(x86asm.Imm); isImm && imm == 0 && d.Op == x86asm.CMP || d.Op == x86asm.TEST && d.Args[0] == d.Args[1] {
		t.zero = a
	}
}

// divide records what a division depends on. v is what the divisor depends on.
func (f *Dependence) divide(t *taints, i disasm.Inst, v Set) {
	// the upper half of the dividend is the sign of the lower
	f.Dividend[i.Addr] |= t.regs[disasm.RAX]
	f.Divisor[i.Addr] |= v
	t.regs[disasm.RAX] |= v
	t.regs[disasm.RDX] = t.regs[disasm.RAX]
	if v != 0 {
		t.regs[disasm.RAX] |= Quotient
		t.regs[disasm.RDX] |= Remainder
	}
}

// setIf makes the first operand of a conditional instruction depend on the flags and all operands.
func (t *taints) setIf(d x86asm.Inst) {
	v := t.flags
	for _, a := range d.Args {
		if a != nil {
			v |= t.get(a)
		}
	}
	t.set(d.Args[0], v)
}

// arithmetic makes the first operand depend on what all operands depend on.
func (t *taints) arithmetic(d x86asm.Inst) {
	var v Set
	from := 0
	if d.Op == x86asm.IMUL && d.Args[2] != nil {
		from = 1
	}
	for _, a := range d.Args[from:] {
		if a != nil {
			v |= t.get(a)
		}
	}
	t.set(d.Args[0], v)
	t.flags, t.zero = v, 0
}

// mark adds v to what an instruction's operands depend on.
func (t *taints) mark(i disasm.Inst, v Set) {
	d, ok := i.X86()
	if !ok {
		return
	}
	for _, a := range d.Args {
		if a != nil {
			t.set(a, t.get(a)|v)
		}
	}
}

// unknown forgets the values that an instruction changes which x86asm does not know.
func (t *taints) unknown(i disasm.Inst) {
	for r := range 16 {
		if i.Meaning.Writes>>r&1 == 1 {
			t.regs[r] = 0
		}
	}
}

func conditional(op x86asm.Op) bool {
	return op >= x86asm.CMOVA && op <= x86asm.CMOVS || op >= x86asm.SETA && op <= x86asm.SETS
}
