package disasm

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm/vex"
)

// nop5 is the length of a call.
const nop5 = 5

// x86Prefixes describes the prefixes of an opcode.
type x86Prefixes struct {
	len               int
	rex               byte
	rep, repn, size16 bool
	lock, ignoredSeg  bool
}

func prefixesX86(b []byte) x86Prefixes {
	var p x86Prefixes
	for p.len < len(b) && p.len < maxLen {
		switch c := b[p.len]; c {
		case 0xf3:
			p.rep = true
		case 0xf2:
			p.repn = true
		case 0x66:
			p.size16 = true
		case 0xf0:
			p.lock = true
		case 0x26, 0x2e, 0x36, 0x3e:
			p.ignoredSeg = true
		case 0x64, 0x65, 0x67:
		default:
			if c&0xf0 == 0x40 { // a REX prefix counts only right before the opcode
				p.rex = c
				p.len++
			}
			return p
		}
		p.len++
	}
	return p
}

// longOpcode returns the opcode of an instruction with a VEX, EVEX or XOP prefix (AVX and later).
// ok is false for all other instructions.
func longOpcode(b []byte) (op byte, ok bool) {
	p := prefixesX86(b)
	if p.rex != 0 {
		return 0, false
	}
	return vex.Opcode(b[min(p.len, len(b)):])
}

// modRM returns the length of a ModR/M operand (with SIB byte and displacement) at the head of b, 0
// if b is too short. It is for 64-bit mode, where the length does not depend on the address-size
// prefix.
func modRM(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	n, mod, rm := 1, b[0]>>6, b[0]&7
	if mod != 3 && rm == 4 {
		if len(b) < 2 {
			return 0
		}
		n++
		if mod == 0 && b[1]&7 == 5 {
			n += 4
		}
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	if n > len(b) {
		return 0
	}
	return n
}

// ripRel returns the address that a position-relative ModR/M operand at the
// head of b denotes in an instruction that ends at next.
func ripRel(b []byte, next uint64) uint64 {
	if len(b) >= 5 && b[0]&0xc7 == 5 {
		return next + uint64(int64(int32(binary.LittleEndian.Uint32(b[1:]))))
	}
	return 0
}

var condX86 = [16]Cond{OtherCond, OtherCond, OtherCond, OtherCond, Equal, NotEqual, OtherCond, OtherCond,
	Sign, NotSign, OtherCond, OtherCond, OtherCond, OtherCond, OtherCond, OtherCond}

// decodeX86 decodes the instruction at the head of b. Three kinds of instructions are decoded
// without x86asm. The first matters for the choice of a probe point. The second x86asm does not
// know (endbr64, notrack). The third x86asm takes for a lone prefix.
func decodeX86(addr uint64, b []byte) (Inst, bool) {
	if len(b) > maxLen {
		b = b[:maxLen]
	}
	p := prefixesX86(b)
	if p.len >= len(b) {
		return Inst{}, false
	}
	i := Inst{Locked: p.lock, Refused: p.lock || p.ignoredSeg}
	known := flowX86(&i, addr, b, p)
	if !known {
		known = hintX86(&i, b, p)
	}
	if !known {
		return restX86(i, addr, b, p)
	}
	if i.Len == 0 || i.Len > len(b) {
		return Inst{}, false
	}
	if i.Refused {
		i.Emulated = false
	}
	return i, true
}

// flowX86 decodes control transfers and push. It reports whether it
// recognised the opcode; i.Len stays 0 for one that is invalid or truncated.
func flowX86(i *Inst, addr uint64, b []byte, p x86Prefixes) bool {
	op, at := b[p.len], p.len
	relative := func(c Control, opLen, size int) {
		// With an operand-size prefix, Intel and AMD disagree on the length, unless REX.W overrides
		// the prefix, as in the padded calls of __tls_get_addr. The kernel refuses these calls,
		// too.
		end := at + opLen + size
		if p.size16 && p.rex&8 == 0 || p.lock || end > len(b) {
			return
		}
		i.Refused = i.Refused || p.size16
		d := int64(int8(b[end-1]))
		if size == 4 {
			d = int64(int32(binary.LittleEndian.Uint32(b[end-4:])))
		}
		i.Control, i.Len, i.Target, i.Emulated = c, end, addr+uint64(end)+uint64(d), true
	}
	switch {
	case op == 0xe8:
		relative(Call, 1, 4)
		i.callsX86()
	case op == 0xe9:
		relative(Jump, 1, 4)
	case op == 0xeb:
		relative(Jump, 1, 1)
	case op&0xf0 == 0x70:
		relative(Jcc, 1, 1)
		i.Cond = condX86[op&15]
	case op == 0x0f && at+1 < len(b) && b[at+1]&0xf0 == 0x80:
		relative(Jcc, 2, 4)
		i.Cond = condX86[b[at+1]&15]
	case op >= 0xe0 && op <= 0xe3: // loop, jrcxz
		relative(Jcc, 1, 1)
		i.Cond, i.Emulated = OtherCond, false
		if op != 0xe3 {
			i.WritesArgs = Args(3)
		}
	case op&0xf8 == 0x50 && !p.size16:
		i.Control, i.Len, i.WritesSP = Push, at+1, true
		// The kernel emulates a push with no prefix but a plain REX.B.
		i.Emulated = at == 0 || at == 1 && p.rex == 0x41
	case op == 0xc3 && !p.size16:
		i.Control, i.Len, i.WritesSP = Ret, at+1, true
	case op == 0xc2 && !p.size16:
		i.Control, i.Len, i.WritesSP = Ret, at+3, true
	case op == 0xff && at+1 < len(b) && b[at+1]>>3&7 >= 2 && b[at+1]>>3&7 <= 5:
		if !p.size16 {
			i.indirectX86(addr, b, at)
		}
	case op == 0xcc || op == 0xf4 || op == 0xf1:
		i.Control, i.Len, i.Refused = Trap, at+1, true
	case op == 0xcd:
		i.Control, i.Len, i.Refused = Trap, at+2, true
	case op == 0x0f && at+1 < len(b) && b[at+1] == 0x0b:
		i.Control, i.Len, i.Refused = Trap, at+2, true
	default:
		return false
	}
	return true
}

// indirectX86 decodes a call or jump to an address that a register or memory holds. Its opcode is
// at the byte at. Far ones are left out.
func (i *Inst) indirectX86(addr uint64, b []byte, at int) {
	n, reg := modRM(b[at+1:]), b[at+1]>>3&7
	if n <= 0 || reg != 2 && reg != 4 {
		return
	}
	i.Control, i.Len = CallIndirect, at+1+n
	if reg == 4 {
		i.Control = JumpIndirect
	} else {
		i.callsX86()
	}
	i.Ref = ripRel(b[at+1:], addr+uint64(i.Len))
	i.Target = i.Ref
}

// callsX86 marks the registers that a called function may change. rsp has its old value when the
// call returns, but a probe behind the call no longer sees the function's entry.
func (i *Inst) callsX86() {
	i.WritesArgs = Args(0, 1, 2, 3, 4, 5)
	i.Meaning = Meaning{Op: MeansCall}
}

// hintX86 decodes nops, endbr64 and the other hints of 0f 18 to 0f 1f. Linux 6.18 turns a probed
// nop of 5 bytes into a call, which pushes 32 bytes. Code that keeps data below the stack pointer,
// as functions without calls may, loses that data. (Later kernels do the same to a nop of 10 bytes,
// and spare the data.)
func hintX86(i *Inst, b []byte, p x86Prefixes) bool {
	op, at := b[p.len], p.len
	if op == 0x90 && p.rex&1 == 0 && !p.rep && !p.repn {
		i.Control, i.Len, i.Emulated = Nop, at+1, true
		i.Refused = i.Refused || i.Len == nop5
		return true
	}
	if op != 0x0f || at+1 >= len(b) || b[at+1] < 0x18 || b[at+1] > 0x1f {
		return false
	}
	n := modRM(b[at+2:])
	if n == 0 || p.lock {
		return true
	}
	i.Len = at + 2 + n
	switch second := b[at+1]; {
	case second == 0x1f && !p.rep && !p.repn:
		i.Control, i.Emulated = Nop, true
		i.Refused = i.Refused || i.Len == nop5
	case second == 0x1e && p.rep && b[at+2]>>6 == 3 && b[at+2]>>3&7 == 1: // rdssp
		i.written(Reg(b[at+2]&7 | p.rex&1<<3))
	}
	return true
}

// restX86 decodes all other instructions with x86asm.
func restX86(i Inst, addr uint64, b []byte, p x86Prefixes) (Inst, bool) {
	if op, ok := longOpcode(b); ok && vex.Misread(op) {
		i.Refused = true
	}
	i.Len = regularX86(b, p)
	if i.Len == p.len+3 && b[p.len] == 0xc5 && b[p.len+2] == 0x77 { // vzeroupper, vzeroall
		return i, true
	}
	d, err := x86asm.Decode(b, 64)
	// x86asm returns a lone prefix as an instruction of one byte without a
	// name; a shorter length than the prefixes' is a misreading as well.
	if err != nil || d.Op == 0 || d.Len <= p.len || i.Len != 0 && d.Len != i.Len {
		for r := RAX; r <= 15; r++ { // unknown, so it may change any register
			i.written(r)
		}
		return i, i.Len != 0
	}
	i.Len, i.dis = d.Len, &d
	if isPortIO(d.Op) {
		i.Refused = true
	}
	effectsX86(&i, addr, d)
	return i, true
}

// regularX86 returns the length of instructions in the opcode maps that have a regular layout.
// These are VEX, EVEX, 0f 38, 0f 3a, and the groups 0f 01 and 0f ae. These maps need no table of
// instructions. For all other instructions, and for invalid ones, it returns 0. x86asm v0.32 lacks
// some instructions of these maps (FMA4, rdpkru, tpause). It takes others for longer than they are
// (vzeroupper: 4 or 5 bytes instead of 3).
func regularX86(b []byte, p x86Prefixes) int {
	at, escape := p.len, b[p.len:]
	imm, operand := 0, true
	var opMap byte
	switch {
	case escape[0] == 0x0f && len(escape) > 2 && (escape[1] == 0x38 || escape[1] == 0x3a):
		at, opMap = at+2, 2+(escape[1]-0x38)/2
	case escape[0] == 0x0f && len(escape) > 2 && (escape[1] == 0x01 || escape[1] == 0xae):
		at++
	case escape[0] == 0xc5 && p.rex == 0 && len(escape) > 2:
		at, opMap = at+2, 1
	case escape[0] == 0xc4 && p.rex == 0 && len(escape) > 3:
		at, opMap = at+3, escape[1]&31
	case escape[0] == 0x62 && p.rex == 0 && len(escape) > 4:
		at, opMap = at+4, escape[1]&7
	default:
		return 0
	}
	switch op := b[at]; opMap {
	case 0, 2, 5, 6: // 0 is 0f 01 and 0f ae here
		if opMap == 0 && escape[0] != 0x0f {
			return 0
		}
	case 1:
		switch op {
		case 0x77:
			operand = false
		case 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6:
			imm = 1
		}
	case 3:
		imm = 1
	default: // APX and unassigned
		return 0
	}
	at++
	if operand {
		n := modRM(b[at:])
		if n == 0 {
			return 0
		}
		at += n
	}
	if at += imm; at > len(b) {
		return 0
	}
	return at
}

func isPortIO(op x86asm.Op) bool {
	switch op {
	case x86asm.IN, x86asm.OUT, x86asm.INSB, x86asm.INSW, x86asm.INSD, x86asm.OUTSB, x86asm.OUTSW, x86asm.OUTSD,
		x86asm.CLI, x86asm.STI, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LRET,
		x86asm.SYSCALL, x86asm.SYSENTER, x86asm.SYSEXIT, x86asm.SYSRET:
		return true
	}
	return false
}

// X86 decodes an instruction again with x86asm, for its operands. ok is false if the instruction is
// another architecture's, or too new for x86asm (endbr64).
func (i *Inst) X86() (d x86asm.Inst, ok bool) {
	if i.Arch != "amd64" {
		return x86asm.Inst{}, false
	}
	if i.dis != nil {
		return *i.dis, true
	}
	d, err := x86asm.Decode(i.Bytes, 64)
	return d, err == nil && d.Op != 0 && d.Len == i.Len
}

func textX86(i Inst) string {
	if d, ok := i.X86(); ok {
		return x86asm.GNUSyntax(d, i.Addr, nil)
	}
	if string(i.Bytes) == "\xf3\x0f\x1e\xfa" {
		return "endbr64"
	}
	return i.Control.String()
}
