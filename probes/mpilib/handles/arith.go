package handles

import (
	"fmt"

	"golang.org/x/arch/x86/x86asm"
)

// arithmetic executes an instruction that computes a value and sets the flags.
func (m *explorer) arithmetic(s *state, in x86asm.Inst) error {
	a0, a1 := in.Args[0], in.Args[1]
	w := width(in, a0)
	if w == 0 || w > 8 {
		return fmt.Errorf("%v is not understood", in)
	}
	a, err := m.get(s, in, a0, w)
	if err != nil {
		return err
	}
	b := m.konst(1)
	if a1 != nil {
		if b, err = m.get(s, in, a1, w); err != nil {
			return err
		}
	}
	v, f, err := m.compute(s, in, a, b, w)
	if err != nil {
		return err
	}
	if v != nil {
		if in.Op == x86asm.XADD {
			if err := m.set(s, in, a1, a); err != nil {
				return err
			}
		}
		err = m.set(s, in, a0, v)
	}
	if f.a != nil {
		f.bytes, f.a = w, m.and(f.a, ones(w))
		s.flags = f
	}
	return err
}

// compute returns the result (nil: the instruction only sets flags) and the flags (none: the flags
// stay as they are).
func (m *explorer) compute(s *state, in x86asm.Inst, a, b *node, w int) (*node, flags, error) {
	logic := func(v *node) (*node, flags, error) { return v, flags{a: v, b: m.zero}, nil }
	arith := func(v *node) (*node, flags, error) { return v, flags{a: v, b: m.zero, result: true}, nil }
	switch op := in.Op; op {
	case x86asm.CMP:
		return nil, flags{a: a, b: b}, nil
	case x86asm.TEST:
		_, f, err := logic(m.bitAnd(a, b, w))
		return nil, f, err
	case x86asm.AND:
		return logic(m.bitAnd(a, b, w))
	case x86asm.OR:
		return logic(m.or(a, b))
	case x86asm.XOR:
		return logic(m.and(m.xor(a, b), ones(w)))
	case x86asm.SUB, x86asm.DEC:
		return m.sub(a, b), flags{a: a, b: b}, nil
	case x86asm.ADD, x86asm.INC, x86asm.XADD:
		return arith(m.add(a, b))
	case x86asm.NEG:
		return m.sub(m.zero, a), flags{a: m.zero, b: a}, nil
	case x86asm.NOT:
		return m.sub(m.konst(all), a), flags{}, nil
	case x86asm.IMUL:
		if a1 := in.Args[1]; a1 == nil {
			break
		}
		if imm, ok := in.Args[2].(x86asm.Imm); ok {
			a = m.konst(uint64(imm))
		}
		v := m.mul(a, b)
		return v, flags{a: m.unknownOf("flags of a product"), b: m.zero}, nil
	case x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.BT:
		if !b.isConst() {
			break
		}
		v, bit := m.shift(op, a, b.k, w)
		if bit != nil {
			return nil, flags{a: m.zero, b: bit}, nil
		}
		return arith(v)
	case x86asm.SBB:
		if in.Args[0] != in.Args[1] {
			break
		}
		below, err := m.decide(s, "B")
		if err != nil {
			return nil, flags{}, err
		}
		if below {
			return m.konst(all), flags{}, nil
		}
		return m.zero, flags{}, nil
	}
	return nil, flags{}, fmt.Errorf("%v is not understood", in)
}

// shift is a shift of w bytes by a known number of bits. BT has no result, but tests a bit.
func (m *explorer) shift(op x86asm.Op, a *node, by uint64, w int) (v, bit *node) {
	if by &= 63; w < 8 {
		by &= 31
	}
	switch op {
	case x86asm.SHL:
		return m.scale(a, 1<<by), nil
	case x86asm.SHR:
		return m.shr(a, by), nil
	case x86asm.SAR:
		return m.sar(a, w, by), nil
	}
	return nil, m.and(m.shr(a, by), 1)
}

// bitAnd is a & b.
func (m *explorer) bitAnd(a, b *node, bytes int) *node {
	switch {
	case a == b:
		return a
	case b.isConst():
		return m.and(a, b.k)
	case a.isConst():
		return m.and(b, a.k)
	}
	if b.id < a.id {
		a, b = b, a
	}
	return m.opaque(int(x86asm.AND), a, b, bytes)
}

// decide follows both the paths on which a condition holds and those on which it does not.
func (m *explorer) decide(s *state, cc string) (bool, error) {
	n, set := m.condition(s, cc)
	i, err := m.branch(s, n, set, set.not(n.max))
	return i == 0, err
}

// mirrored has the conditions for exchanged operands. opposite has the conditions that hold if the
// others do not.
var (
	mirrored = map[string]string{"E": "E", "B": "A", "BE": "AE", "A": "B", "AE": "BE", "L": "G", "LE": "GE", "G": "L", "GE": "LE"}
	opposite = map[string]string{"NE": "E", "AE": "B", "A": "BE", "GE": "L", "G": "LE", "NS": "S"}
)

// condition expresses a condition of the flags as: a value lies in a set.
func (m *explorer) condition(s *state, cc string) (*node, ranges) {
	f := s.flags
	if f.a == nil {
		return m.unknownOf("flags"), ranges{{1, all}}
	}
	if o, ok := opposite[cc]; ok {
		n, set := m.condition(s, o)
		return n, set.not(n.max)
	}
	most := ones(f.bytes)
	sign := most>>1 + 1
	if cc == "S" || f.result && cc == "E" || !f.b.isConst() && (cc == "E") && !f.a.isConst() {
		n := m.and(m.sub(f.a, f.b), most)
		if cc == "E" {
			return n, single(0)
		}
		return n, ranges{{sign, most}}.and(ranges{{0, n.max}})
	}
	if f.a.isConst() && !f.b.isConst() {
		if mc, ok := mirrored[cc]; ok {
			f.a, f.b, cc = f.b, f.a, mc
			return m.condition(&state{flags: f}, cc)
		}
	}
	if f.result || !f.b.isConst() {
		return m.relation(cc, f)
	}
	k := f.b.k
	var set ranges
	switch cc {
	case "E":
		set = single(k)
	case "B":
		set = below(k)
	case "BE":
		set = ranges{{0, k}}
	case "L":
		set = less(k, sign, most)
	case "LE":
		if set = (ranges{{0, most}}); k != sign-1 {
			set = less((k+1)&most, sign, most)
		}
	default: // parity, overflow
		return m.relation(cc, f)
	}
	return f.a, set.and(ranges{{0, f.a.max}})
}

// relation expresses a condition of two unknown values as a value that is 1 or 0.
func (m *explorer) relation(cc string, f flags) (*node, ranges) {
	yes := single(1)
	switch {
	case f.result:
	case cc == "B":
		return m.node(opBelow, f.a, f.b, 0, 1), yes
	case cc == "BE":
		return m.node(opBelow, f.b, f.a, 0, 1), single(0)
	case cc == "L":
		return m.node(opLess, f.a, f.b, uint64(f.bytes), 1), yes
	case cc == "LE":
		return m.node(opLess, f.b, f.a, uint64(f.bytes), 1), single(0)
	}
	return m.and(m.unknownOf("condition "+cc), 1), yes
}

func below(k uint64) ranges {
	if k == 0 {
		return nil
	}
	return ranges{{0, k - 1}}
}

// less returns the numbers that are less than k, compared as signed numbers.
func less(k, sign, most uint64) ranges {
	if k >= sign {
		if k == sign {
			return nil
		}
		return ranges{{sign, k - 1}}
	}
	return append(below(k), span{sign, most})
}
