package unwind

// numRegisters is how many registers are followed, by their DWARF numbers. For amd64 these are the
// general registers 0 to 15, and 16 for the return address. For arm64 these are 0 to 30, and 31 for
// the stack pointer.
const numRegisters = 33

type ruleKind uint8

const (
	unspecified   ruleKind = iota
	undefined              // lost
	same                   // as in the caller
	offset                 // stored at CFA + value
	valOffset              // is CFA + value
	register               // is in another register
	expression             // stored where an expression says
	valExpression          // is the value of an expression
	regOffset              // of the CFA only: a register + value
)

// rule says how to find a register's value in the caller. If the rule is an expression, value is
// the expression's place in the instructions: offset << 32 | length. The expression may belong to
// the CIE.
type rule struct {
	kind  ruleKind
	ofCIE bool
	reg   uint16
	value int64
}

// row holds the rules that apply at an instruction.
type row struct {
	cfa  rule // canonical frame address: the stack pointer before the call
	regs [numRegisters]rule
	set  uint64 // registers that have a rule
}

func (w *row) setRule(reg uint64, r rule) {
	if reg < numRegisters {
		w.regs[reg] = r
		w.set |= 1 << reg
	}
}

// Call frame instructions (DWARF 5, 7.24).
const (
	cfaAdvanceLoc = 0x40 // in the upper two bits
	cfaOffset     = 0x80
	cfaRestore    = 0xc0

	cfaNop               = 0x00
	cfaSetLoc            = 0x01
	cfaAdvanceLoc1       = 0x02
	cfaAdvanceLoc2       = 0x03
	cfaAdvanceLoc4       = 0x04
	cfaOffsetExtended    = 0x05
	cfaRestoreExtended   = 0x06
	cfaUndefined         = 0x07
	cfaSameValue         = 0x08
	cfaRegister          = 0x09
	cfaRememberState     = 0x0a
	cfaRestoreState      = 0x0b
	cfaDefCFA            = 0x0c
	cfaDefCFARegister    = 0x0d
	cfaDefCFAOffset      = 0x0e
	cfaDefCFAExpression  = 0x0f
	cfaExpression        = 0x10
	cfaOffsetExtendedSF  = 0x11
	cfaDefCFASF          = 0x12
	cfaDefCFAOffsetSF    = 0x13
	cfaValOffset         = 0x14
	cfaValOffsetSF       = 0x15
	cfaValExpression     = 0x16
	cfaNegateRAStatePC   = 0x2c // arm64: return address signed, with the PC
	cfaNegateRAState     = 0x2d // arm64: return address signed from here on, or no more
	cfaGNUArgsSize       = 0x2e
	cfaGNUNegativeOffset = 0x2f
)

// maxStates bounds how many states an FDE may remember at once.
const maxStates = 32

// row returns the rules that apply at a vaddr that f covers.
func (f *fde) row(pc uint64) (w row, ok bool) {
	if !f.cie.run(&w, nil, f.cie.code, 0, 0, true) {
		return w, false
	}
	initial := w
	return w, f.cie.run(&w, &initial, f.code, f.start, pc, false)
}

// run applies call frame instructions, up to the rules that apply at pc. The code of the
// instructions starts at loc. For the instructions of a CIE, which covers no code, initial is nil.
func (c *cie) run(w, initial *row, code []byte, loc, pc uint64, ofCIE bool) bool {
	var states []row
	r := reader{b: code}
	for r.at < uint64(len(code)) {
		op, operand := r.u8(), uint8(0)
		if upper := op & 0xc0; upper != 0 {
			op, operand = upper, op&0x3f
		}
		advance, ok := uint64(0), true
		switch op {
		case cfaAdvanceLoc, cfaAdvanceLoc1, cfaAdvanceLoc2, cfaAdvanceLoc4:
			advance = r.advance(op, operand)
		case cfaNop, cfaNegateRAState, cfaNegateRAStatePC: // see Table.Step
		case cfaGNUArgsSize:
			r.uleb()
		case cfaRestore:
			ok = w.restore(uint64(operand), initial)
		case cfaRestoreExtended:
			ok = w.restore(r.uleb(), initial)
		case cfaRememberState:
			ok = len(states) < maxStates
			states = append(states, *w)
		case cfaRestoreState:
			if len(states) == 0 {
				return false
			}
			*w, states = states[len(states)-1], states[:len(states)-1]
		default:
			ok = c.registerRule(w, &r, op, operand, ofCIE) || c.cfaRule(w, &r, op, ofCIE)
		}
		if !ok || r.bad {
			return false
		}
		if loc += advance * c.codeAlign; advance > 0 && loc > pc {
			return true
		}
	}
	return !r.bad
}

// advance returns how far an instruction moves on, in units of the CIE's codeAlign. operand is the
// part of its first byte beside op.
func (r *reader) advance(op, operand uint8) uint64 {
	switch op {
	case cfaAdvanceLoc1:
		return uint64(r.u8())
	case cfaAdvanceLoc2:
		return uint64(r.u16())
	case cfaAdvanceLoc4:
		return uint64(r.u32())
	}
	return uint64(operand)
}

// registerRule applies an instruction that gives a register a rule. It returns false if the
// instruction is another one. operand is the part of the instruction's first byte beside op.
func (c *cie) registerRule(w *row, r *reader, op, operand uint8, ofCIE bool) bool {
	switch op {
	case cfaOffset:
		w.setRule(uint64(operand), rule{kind: offset, value: int64(r.uleb()) * c.dataAlign})
	case cfaOffsetExtended:
		w.setRule(r.uleb(), rule{kind: offset, value: int64(r.uleb()) * c.dataAlign})
	case cfaOffsetExtendedSF:
		w.setRule(r.uleb(), rule{kind: offset, value: r.sleb() * c.dataAlign})
	case cfaGNUNegativeOffset:
		w.setRule(r.uleb(), rule{kind: offset, value: -int64(r.uleb()) * c.dataAlign})
	case cfaValOffset:
		w.setRule(r.uleb(), rule{kind: valOffset, value: int64(r.uleb()) * c.dataAlign})
	case cfaValOffsetSF:
		w.setRule(r.uleb(), rule{kind: valOffset, value: r.sleb() * c.dataAlign})
	case cfaUndefined:
		w.setRule(r.uleb(), rule{kind: undefined})
	case cfaSameValue:
		w.setRule(r.uleb(), rule{kind: same})
	case cfaRegister:
		reg, from := r.uleb(), r.uleb()
		w.setRule(reg, rule{kind: register, reg: uint16(min(from, numRegisters))})
	case cfaExpression:
		w.setRule(r.uleb(), r.expression(expression, ofCIE))
	case cfaValExpression:
		w.setRule(r.uleb(), r.expression(valExpression, ofCIE))
	default:
		return false
	}
	return true
}

// cfaRule applies an instruction that says how to find the canonical frame address. It returns
// false if the instruction is another one, or cfaSetLoc, which no compiler writes.
func (c *cie) cfaRule(w *row, r *reader, op uint8, ofCIE bool) bool {
	switch op {
	case cfaDefCFA:
		reg := r.uleb()
		w.cfa = rule{kind: regOffset, reg: uint16(min(reg, numRegisters)), value: int64(r.uleb())}
	case cfaDefCFASF:
		reg := r.uleb()
		w.cfa = rule{kind: regOffset, reg: uint16(min(reg, numRegisters)), value: r.sleb() * c.dataAlign}
	case cfaDefCFARegister:
		w.cfa.kind, w.cfa.reg = regOffset, uint16(min(r.uleb(), numRegisters))
	case cfaDefCFAOffset:
		w.cfa.value = int64(r.uleb())
	case cfaDefCFAOffsetSF:
		w.cfa.value = r.sleb() * c.dataAlign
	case cfaDefCFAExpression:
		w.cfa = r.expression(valExpression, ofCIE)
	default:
		return false
	}
	return true
}

func (w *row) restore(reg uint64, initial *row) bool {
	if initial == nil {
		return false
	}
	if reg < numRegisters {
		w.regs[reg] = initial.regs[reg]
	}
	return true
}

// expression reads an expression's length and skips it.
func (r *reader) expression(kind ruleKind, ofCIE bool) rule {
	n := r.uleb()
	at := r.at
	r.skip(n)
	return rule{kind: kind, ofCIE: ofCIE, value: int64(at<<32 | n&0xffffffff)}
}

// expression returns the instructions of a rule's expression.
func (f *fde) expression(w rule) []byte {
	code := f.code
	if w.ofCIE {
		code = f.cie.code
	}
	at, n := uint64(w.value)>>32, uint64(w.value)&0xffffffff
	return code[at : at+n]
}
