package handles

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// General registers in encoding order.
const (
	rax = 0
	rcx = 1
	rdx = 2
	rbx = 3
	rsp = 4
	rbp = 5
	rsi = 6
	rdi = 7
)

// register returns the number and width (in bytes) of a general register. high says that it is ah,
// bh, ch or dh.
func register(r x86asm.Reg) (n, bytes int, high, ok bool) {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL), 1, false, true
	case r >= x86asm.AH && r <= x86asm.BH:
		return int(r - x86asm.AH), 1, true, true
	case r >= x86asm.SPB && r <= x86asm.DIB:
		return int(r-x86asm.SPB) + 4, 1, false, true
	case r >= x86asm.R8B && r <= x86asm.R15B:
		return int(r-x86asm.R8B) + 8, 1, false, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX), 2, false, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX), 4, false, true
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX), 8, false, true
	}
	return 0, 0, false, false
}

// width returns the size of an operand in bytes.
func width(in x86asm.Inst, a x86asm.Arg) int {
	if r, ok := a.(x86asm.Reg); ok {
		_, w, _, _ := register(r)
		return w
	}
	if in.MemBytes != 0 {
		return in.MemBytes
	}
	return in.DataSize / 8
}

// address returns the effective address of an operand.
func (m *explorer) address(s *state, a x86asm.Mem) *node {
	switch {
	case a.Base == x86asm.RIP:
		return m.add(m.bias, m.konst(s.pc+uint64(a.Disp)))
	case a.Segment == x86asm.FS || a.Segment == x86asm.GS:
		return m.add(m.leaf(opThread), m.plain(s, a))
	}
	return m.plain(s, a)
}

func (m *explorer) plain(s *state, a x86asm.Mem) *node {
	at := m.konst(uint64(a.Disp))
	if n, bytes, _, ok := register(a.Base); ok {
		at = m.add(at, m.and(s.regs[n], ones(bytes)))
	}
	if n, bytes, _, ok := register(a.Index); ok {
		at = m.add(at, m.scale(m.and(s.regs[n], ones(bytes)), uint64(a.Scale)))
	}
	return at
}

// get reads an operand of the given number of bytes.
func (m *explorer) get(s *state, in x86asm.Inst, a x86asm.Arg, bytes int) (*node, error) {
	switch a := a.(type) {
	case x86asm.Reg:
		if n, w, high, ok := register(a); ok {
			if high {
				return m.and(m.shr(s.regs[n], 8), 0xff), nil
			}
			return m.and(s.regs[n], ones(w)), nil
		}
	case x86asm.Imm:
		return m.konst(uint64(a) & ones(bytes)), nil
	case x86asm.Mem:
		if w := in.MemBytes; w > 0 && w <= 8 {
			return m.load(s, m.address(s, a), w)
		}
	}
	return nil, fmt.Errorf("operand %v of %v is not understood", a, in)
}

func (m *explorer) set(s *state, in x86asm.Inst, a x86asm.Arg, v *node) error {
	switch a := a.(type) {
	case x86asm.Reg:
		n, w, high, ok := register(a)
		switch {
		case !ok:
		case high:
			s.regs[n] = m.or(m.and(s.regs[n], ^uint64(0xff00)), m.scale(m.and(v, 0xff), 1<<8))
			return nil
		case w >= 4:
			s.regs[n] = m.and(v, ones(w))
			return nil
		default:
			s.regs[n] = m.or(m.and(s.regs[n], ^ones(w)), m.and(v, ones(w)))
			return nil
		}
	case x86asm.Mem:
		m.store(s, m.address(s, a), v, width(in, a))
		return nil
	}
	return fmt.Errorf("operand %v of %v is not understood", a, in)
}

var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// stepX86 executes an instruction. s.pc is the address of the next one. If the path branches, the
// instruction has not changed anything yet.
func (m *explorer) stepX86(s *state, d decoded) (done bool, err error) {
	in := d.x86
	if in.Op == 0 {
		if bytes.Equal(d.Bytes, endbr64) {
			return false, nil
		}
		if d.Control < firstTransfer || d.Control > lastTransfer {
			return false, fmt.Errorf("%s is not understood", d)
		}
	}
	if d.Transfers() {
		return m.transfer(s, d)
	}
	a0, a1 := in.Args[0], in.Args[1]
	switch op := in.Op; op {
	case x86asm.NOP, x86asm.PXOR, x86asm.XORPS, x86asm.XORPD, x86asm.FWAIT, x86asm.PAUSE:
		return false, nil
	case x86asm.PUSH:
		return false, m.push(s, in)
	case x86asm.POP, x86asm.LEAVE:
		if op == x86asm.LEAVE {
			s.regs[rsp], a0 = s.regs[rbp], x86asm.RBP
		}
		v, err := m.load(s, s.regs[rsp], 8)
		if err != nil {
			return false, err
		}
		s.regs[rsp] = m.add(s.regs[rsp], m.konst(8))
		return false, m.set(s, in, a0, v)
	case x86asm.LEA:
		mem, ok := a1.(x86asm.Mem)
		if !ok {
			break
		}
		return false, m.set(s, in, a0, m.address(s, mem))
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD:
		return false, m.move(s, in)
	case x86asm.CBW:
		return false, m.set(s, in, x86asm.AX, m.sext(m.and(s.regs[rax], 0xff), 1))
	case x86asm.CWDE:
		return false, m.set(s, in, x86asm.EAX, m.sext(m.and(s.regs[rax], 0xffff), 2))
	case x86asm.CDQE:
		return false, m.set(s, in, x86asm.RAX, m.sext(m.and(s.regs[rax], ones(4)), 4))
	case x86asm.CDQ:
		return false, m.set(s, in, x86asm.EDX, m.sar(s.regs[rax], 4, 31))
	case x86asm.CQO:
		return false, m.set(s, in, x86asm.RDX, m.sar(s.regs[rax], 8, 63))
	case x86asm.XCHG:
		return false, m.exchange(s, in)
	case x86asm.MOVAPS, x86asm.MOVUPS, x86asm.MOVDQA, x86asm.MOVDQU, x86asm.MOVQ, x86asm.MOVD, x86asm.MOVAPD, x86asm.MOVUPD:
		return false, m.vector(s, in)
	}
	switch name := in.Op.String(); {
	case strings.HasPrefix(name, "CMOV"):
		return false, m.conditionalMove(s, in, name[4:])
	case strings.HasPrefix(name, "SET"):
		return false, m.setCondition(s, in, name[3:])
	case strings.HasPrefix(name, "PREFETCH"):
		return false, nil
	}
	return false, m.arithmetic(s, in)
}

// move executes a move, with or without extension.
func (m *explorer) move(s *state, in x86asm.Inst) error {
	to, from := in.Args[0], in.Args[1]
	w := width(in, from)
	if _, imm := from.(x86asm.Imm); imm {
		w = width(in, to)
	}
	v, err := m.get(s, in, from, w)
	if err != nil {
		return err
	}
	if in.Op == x86asm.MOVSX || in.Op == x86asm.MOVSXD {
		v = m.sext(v, w)
	}
	return m.set(s, in, to, v)
}

func (m *explorer) push(s *state, in x86asm.Inst) error {
	v, err := m.get(s, in, in.Args[0], 8)
	if err != nil {
		return err
	}
	s.regs[rsp] = m.add(s.regs[rsp], m.konst(^uint64(7)))
	m.store(s, s.regs[rsp], v, 8)
	return nil
}

func (m *explorer) exchange(s *state, in x86asm.Inst) error {
	w := width(in, in.Args[0])
	a, err := m.get(s, in, in.Args[0], w)
	if err != nil {
		return err
	}
	b, err := m.get(s, in, in.Args[1], w)
	if err != nil {
		return err
	}
	if err := m.set(s, in, in.Args[0], b); err != nil {
		return err
	}
	return m.set(s, in, in.Args[1], a)
}

// vector executes an instruction on vector registers. These are not followed: what is stored from
// them is unknown.
func (m *explorer) vector(s *state, in x86asm.Inst) error {
	switch a := in.Args[0].(type) {
	case x86asm.Mem:
		at := m.address(s, a)
		for i := 0; i < max(in.MemBytes, 8); i += 8 {
			m.store(s, m.add(at, m.konst(uint64(i))), m.unknownOf("a vector register"), 8)
		}
	case x86asm.Reg:
		if _, _, _, general := register(a); general {
			return m.set(s, in, a, m.unknownOf("a vector register"))
		}
	}
	return nil
}

func (m *explorer) conditionalMove(s *state, in x86asm.Inst, cc string) error {
	w := width(in, in.Args[0])
	old, err := m.get(s, in, in.Args[0], w)
	if err != nil {
		return err
	}
	v, err := m.get(s, in, in.Args[1], w)
	if err != nil || v == old {
		return err
	}
	yes, err := m.decide(s, cc)
	if err != nil {
		return err
	}
	if !yes {
		v = old
	}
	return m.set(s, in, in.Args[0], v)
}

func (m *explorer) setCondition(s *state, in x86asm.Inst, cc string) error {
	v := m.truth(s, cc)
	if v == nil {
		is, err := m.decide(s, cc)
		if err != nil {
			return err
		}
		v = m.zero
		if is {
			v = m.konst(1)
		}
	}
	return m.set(s, in, in.Args[0], v)
}

// truth returns a condition as a value of 1 or 0, or nil if that needs a branch.
func (m *explorer) truth(s *state, cc string) *node {
	n, set := m.condition(s, cc)
	in := s.domain(n)
	not := set.not(n.max)
	if len(in.and(set)) == 0 || len(in.and(not)) == 0 || n.deps&onUnknown != 0 {
		return nil
	}
	if k, ok := set.isSingle(); ok {
		return m.eq(n, k)
	}
	if k, ok := not.isSingle(); ok {
		return m.sub(m.konst(1), m.eq(n, k))
	}
	if n.max > ones(4) {
		return nil
	}
	if len(set) == 1 && len(not) == 1 { // of unsigned numbers, or of one sign
		if set[0].lo == 0 {
			return m.below(n, set[0].hi+1)
		}
		return m.sub(m.konst(1), m.below(n, set[0].lo))
	}
	if f := s.flags; f.bytes == 4 && !f.result && f.b.isConst() && f.a == n {
		a, k := m.sext(n, 4), m.sext(f.b, 4)
		switch cc {
		case "L", "GE":
			n = m.shr(m.sub(a, k), 63)
		case "LE", "G":
			n = m.shr(m.sub(a, m.add(k, m.konst(1))), 63)
		default:
			return nil
		}
		if cc == "GE" || cc == "G" {
			n = m.sub(m.konst(1), n)
		}
		return n
	}
	return nil
}

// below returns n < k for numbers of 32 bits: the sign of their difference.
func (m *explorer) below(n *node, k uint64) *node { return m.shr(m.sub(n, m.konst(k)), 63) }
