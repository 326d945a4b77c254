package unwind

import "encoding/binary"

// machine evaluates DWARF expressions (DWARF 5, 2.5) over a frame's registers
// and the stack.
type machine struct {
	regs  *Registers
	read  func(addr uint64) (uint64, bool)
	amd64 bool
}

// Operations (DWARF 5, 7.7.1).
const (
	opDeref      = 0x06
	opConst1u    = 0x08
	opConst1s    = 0x09
	opConst2u    = 0x0a
	opConst2s    = 0x0b
	opConst4u    = 0x0c
	opConst4s    = 0x0d
	opConst8u    = 0x0e
	opConst8s    = 0x0f
	opConstu     = 0x10
	opConsts     = 0x11
	opDup        = 0x12
	opDrop       = 0x13
	opOver       = 0x14
	opPick       = 0x15
	opSwap       = 0x16
	opRot        = 0x17
	opAbs        = 0x19
	opAnd        = 0x1a
	opDiv        = 0x1b
	opMinus      = 0x1c
	opMod        = 0x1d
	opMul        = 0x1e
	opNeg        = 0x1f
	opNot        = 0x20
	opOr         = 0x21
	opPlus       = 0x22
	opPlusUconst = 0x23
	opShl        = 0x24
	opShr        = 0x25
	opShra       = 0x26
	opXor        = 0x27
	opBra        = 0x28
	opEq         = 0x29
	opGe         = 0x2a
	opGt         = 0x2b
	opLe         = 0x2c
	opLt         = 0x2d
	opNe         = 0x2e
	opSkip       = 0x2f
	opLit0       = 0x30
	opLit31      = 0x4f
	opBreg0      = 0x70
	opBreg31     = 0x8f
	opBregx      = 0x92
	opDerefSize  = 0x94
	opNop        = 0x96
)

const (
	maxSteps   = 1000 // expressions can loop
	stackDepth = 32
)

// amd64PC is the register number of the instruction pointer in expressions on amd64. The linker
// writes such expressions for its PLT.
const amd64PC = 16

// eval evaluates an expression on a stack that begins with start. It returns the value on top of
// the stack at the end.
func (m *machine) eval(code []byte, start ...uint64) (result uint64, ok bool) {
	var stack [stackDepth]uint64
	n := copy(stack[:], start)
	r := reader{b: code}
	for range maxSteps {
		if r.at == uint64(len(code)) {
			if n == 0 {
				return 0, false
			}
			return stack[n-1], true
		}
		op := r.u8()
		takes, gives := effect(op)
		if gives < 0 || n < takes || n-takes+gives > stackDepth {
			return 0, false
		}
		args := stack[n-takes : n : n]
		n -= takes
		push := func(v uint64) { stack[n] = v; n++ }
		switch {
		case op >= opLit0 && op <= opLit31:
			push(uint64(op - opLit0))
		case op >= opBreg0 && op <= opBreg31, op == opBregx:
			v, known := m.base(&r, op)
			if !known {
				return 0, false
			}
			push(v)
		case op == opDeref, op == opDerefSize:
			v, known := m.deref(&r, op, args[0])
			if !known {
				return 0, false
			}
			push(v)
		case op >= opConst1u && op <= opConsts:
			push(r.constant(op))
		case op == opPick:
			i := int(r.u8())
			if i >= n {
				return 0, false
			}
			push(stack[n-1-i])
		case op == opPlusUconst:
			push(args[0] + r.uleb())
		case op == opSkip, op == opBra:
			if !r.branch(op == opSkip || args[0] != 0) {
				return 0, false
			}
		case op == opDrop, op == opNop:
		case op == opDup, op == opSwap, op == opOver, op == opRot:
			rearrange(op, stack[n:n+gives])
			n += gives
		default:
			v, defined := arithmetic(op, args)
			if !defined {
				return 0, false
			}
			push(v)
		}
		if r.bad {
			return 0, false
		}
	}
	return 0, false
}

// rearrange copies or swaps values of the stack. s holds the operation's arguments, and has room
// for its results.
func rearrange(op byte, s []uint64) {
	switch op {
	case opDup:
		s[1] = s[0]
	case opSwap:
		s[0], s[1] = s[1], s[0]
	case opOver:
		s[2] = s[0]
	case opRot:
		s[0], s[1], s[2] = s[2], s[0], s[1]
	}
}

// base returns a register's value plus the offset that follows the operation.
func (m *machine) base(r *reader, op byte) (v uint64, known bool) {
	reg := uint64(op - opBreg0)
	if op == opBregx {
		reg = r.uleb()
	}
	v, known = m.register(reg)
	return v + uint64(r.sleb()), known
}

// deref returns up to eight bytes of memory at an address.
func (m *machine) deref(r *reader, op byte, addr uint64) (v uint64, known bool) {
	size := byte(8)
	if op == opDerefSize {
		size = r.u8()
	}
	v, known = m.read(addr)
	if !known || size == 0 || size > 8 {
		return 0, false
	}
	return v << (64 - 8*size) >> (64 - 8*size), true
}

// branch reads a distance, and moves by it if taken is set. It returns false if the goal is outside
// of the expression.
func (r *reader) branch(taken bool) bool {
	to := int64(int16(r.u16())) + int64(r.at)
	if !taken {
		return true
	}
	if to < 0 || to > int64(len(r.b)) {
		return false
	}
	r.at = uint64(to)
	return true
}

func (m *machine) register(reg uint64) (uint64, bool) {
	if reg == amd64PC && m.amd64 {
		return m.regs.PC, true
	}
	return m.regs.Get(int(min(reg, numRegisters)))
}

// effect returns how many values an operation takes from the stack, and how many it leaves there.
// gives is -1 for an operation that is not supported.
func effect(op byte) (takes, gives int) {
	switch {
	case op >= opConst1u && op <= opConsts, op >= opLit0 && op <= opLit31, op >= opBreg0 && op <= opBreg31, op == opBregx, op == opPick:
		return 0, 1
	case op == opDeref, op == opDerefSize, op == opPlusUconst, op == opAbs, op == opNeg, op == opNot:
		return 1, 1
	case op == opDup:
		return 1, 2
	case op == opDrop, op == opBra:
		return 1, 0
	case op == opOver:
		return 2, 3
	case op == opSwap:
		return 2, 2
	case op == opRot:
		return 3, 3
	case op == opSkip, op == opNop:
		return 0, 0
	case op >= opAnd && op <= opXor, op >= opEq && op <= opNe:
		return 2, 1
	}
	return 0, -1
}

func (r *reader) constant(op byte) uint64 {
	switch op {
	case opConst1u:
		return uint64(r.u8())
	case opConst1s:
		return uint64(int64(int8(r.u8())))
	case opConst2u:
		return uint64(r.u16())
	case opConst2s:
		return uint64(int64(int16(r.u16())))
	case opConst4u:
		return uint64(r.u32())
	case opConst4s:
		return uint64(int64(int32(r.u32())))
	case opConst8u, opConst8s:
		return binary.LittleEndian.Uint64(r.take(8))
	case opConstu:
		return r.uleb()
	}
	return uint64(r.sleb())
}

// arithmetic applies an operation to the one or two values on top of the stack. The topmost value
// is the last one.
func arithmetic(op byte, args []uint64) (v uint64, defined bool) {
	a := args[0]
	switch op {
	case opAbs:
		return uint64(max(int64(a), -int64(a))), true
	case opNeg:
		return -a, true
	case opNot:
		return ^a, true
	}
	b := args[1]
	truth := func(t bool) (uint64, bool) {
		if t {
			return 1, true
		}
		return 0, true
	}
	switch op {
	case opAnd:
		return a & b, true
	case opDiv:
		if b == 0 {
			return 0, false
		}
		return uint64(int64(a) / int64(b)), true
	case opMinus:
		return a - b, true
	case opMod:
		if b == 0 {
			return 0, false
		}
		return a % b, true
	case opMul:
		return a * b, true
	case opOr:
		return a | b, true
	case opPlus:
		return a + b, true
	case opShl:
		return a << b, true
	case opShr:
		return a >> b, true
	case opShra:
		return uint64(int64(a) >> b), true
	case opXor:
		return a ^ b, true
	case opEq:
		return truth(a == b)
	case opGe:
		return truth(int64(a) >= int64(b))
	case opGt:
		return truth(int64(a) > int64(b))
	case opLe:
		return truth(int64(a) <= int64(b))
	case opLt:
		return truth(int64(a) < int64(b))
	case opNe:
		return truth(a != b)
	}
	return 0, false
}
