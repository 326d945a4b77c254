package disasm

import (
	"encoding/binary"

	"golang.org/x/arch/arm64/arm64asm"
)

// ARMSP is encoding 31 of arm64: the stack pointer or the zero register.
const ARMSP = Reg(31)

// armLR, x30, holds the return address.
const armLR = Reg(30)

// writtenARM notes that an arm64 instruction changes general registers. Encoding 31 stands for the
// stack pointer here.
func (i *Inst) writtenARM(rs ...Reg) {
	for _, r := range rs {
		switch {
		case r == ARMSP:
			i.WritesSP = true
		case r == armLR:
			i.WritesLR = true
		case r >= 0 && r < 8:
			i.WritesArgs |= Args(int(r))
		}
		i.Meaning.Writes |= 1 << r
	}
}

// Signed returns the bits [lo, lo+n) of w as a signed number. Instructions of arm64 have
// offsets in such bits.
func Signed(w uint32, lo, n uint) int64 { return int64(w) << (64 - lo - n) >> (64 - n) }

// decodeARM64 decodes one word. All instructions have four bytes. So only the flow of control, the
// kernel's uprobe class and the changed registers have to be found. These follow from the
// architecture's top-level encoding groups. That also covers extensions that arm64asm does not know
// (LSE atomics, PAC, BTI).
func decodeARM64(addr uint64, b []byte) (Inst, bool) {
	if len(b) < 4 || addr%4 != 0 {
		return Inst{}, false
	}
	w := binary.LittleEndian.Uint32(b)
	i := Inst{Len: 4}
	rd, rn := Reg(w&31), Reg(w>>5&31)
	switch group := w >> 25 & 15; {
	case w>>16 == 0: // udf
		i.Control, i.Refused = Trap, true
	case group == 0, group == 1, group == 3: // reserved
		return Inst{}, false
	case group == 2: // SVE: may change any register
		i.opaque()
	case group&14 == 8:
		immediateARM(&i, addr, w, rd, rn)
	case group&14 == 10:
		return i, branchARM(&i, addr, w, rd)
	case group&5 == 4:
		memoryARM(&i, addr, w, rd, rn)
	case group&7 == 5:
		registerARM(&i, w, rd, rn)
	default: // floating point: some results go to general registers
		if rd != 31 {
			i.writtenARM(rd)
		}
	}
	return i, true
}

func (i *Inst) opaque() {
	for r := Reg(0); r < 32; r++ {
		i.writtenARM(r)
	}
}

func immediateARM(i *Inst, addr uint64, w uint32, rd, rn Reg) {
	i.Meaning.Dst = rd
	set := func(a Address) { i.Meaning.Op, i.Meaning.Addr = MeansAddress, a }
	switch op := w >> 23 & 7; op {
	case 0, 1: // adr, adrp: the kernel simulates both
		d := Signed(w, 5, 19)<<2 | int64(w>>29&3)
		i.Ref = addr + uint64(d)
		if w>>31 == 1 {
			i.Ref = addr&^4095 + uint64(d<<12)
		}
		i.Emulated = true
		set(Address{Base: NoReg, Index: NoReg, Disp: int64(i.Ref)})
	case 2: // add, sub
		d := int64(w >> 10 & 4095)
		if w>>22&1 == 1 {
			d <<= 12
		}
		if w>>30&1 == 1 {
			d = -d
		}
		if w>>31 == 1 && w>>29&1 == 0 && rd != 31 && rn != 31 {
			set(Address{Base: rn, Index: NoReg, Disp: d})
		}
		if w>>29&1 == 1 && rd == 31 { // cmp, cmn
			return
		}
	case 4: // logical; ands with register 31 is tst
		if w>>29&3 == 3 && rd == 31 {
			return
		}
	case 5: // movn, movz, movk
		d := int64(w>>5&0xffff) << (16 * (w >> 21 & 3))
		switch {
		case w>>29&3 == 2:
			set(Address{Base: NoReg, Index: NoReg, Disp: d})
		case w>>31 == 1 && w>>29&3 == 0:
			set(Address{Base: NoReg, Index: NoReg, Disp: ^d})
		case w>>31 == 1 && w>>29&3 == 3: // fills bits that movz left clear
			set(Address{Base: rd, Index: NoReg, Disp: d})
		}
		if rd == 31 {
			return
		}
	default:
		if rd == 31 {
			return
		}
	}
	i.writtenARM(rd)
}

// branchARM decodes branches, exceptions and system instructions; it reports
// false for a reserved encoding.
func branchARM(i *Inst, addr uint64, w uint32, rd Reg) bool {
	calls := func(k Control) {
		i.Control, i.WritesLR, i.WritesArgs, i.Meaning = k, true, 0xff, Meaning{Op: MeansCall}
	}
	i.Emulated = true
	switch {
	case w>>26&31 == 5: // b, bl
		i.Target = addr + uint64(Signed(w, 0, 26)<<2)
		if w>>31 == 1 {
			calls(Call)
		} else {
			i.Control = Jump
		}
	case w>>24 == 0x54: // b.cond
		i.Control, i.Target, i.Cond = Jcc, addr+uint64(Signed(w, 5, 19)<<2), OtherCond
		switch w & 15 {
		case 0:
			i.Cond = Equal
		case 1:
			i.Cond = NotEqual
		case 4:
			i.Cond = Sign
		case 5:
			i.Cond = NotSign
		}
		i.Emulated, i.Refused = w&16 == 0, w&16 != 0 // bc.cond is newer than the kernel's table
	case w>>25&63 == 0x1a: // cbz, cbnz
		i.Control, i.Target, i.Cond = Jcc, addr+uint64(Signed(w, 5, 19)<<2), OtherCond
	case w>>25&63 == 0x1b: // tbz, tbnz
		i.Control, i.Target, i.Cond = Jcc, addr+uint64(Signed(w, 5, 14)<<2), OtherCond
	case w>>25 == 0x6b: // br, blr, ret and their authenticated forms
		plain := w&0xfc1f == 0 && w>>24&1 == 0
		switch w >> 21 & 7 {
		case 0:
			i.Control = JumpIndirect
		case 1:
			calls(CallIndirect)
		case 2, 4:
			i.Control = Ret
		default:
			return false
		}
		i.Emulated, i.Refused = plain && w>>21&7 <= 2, !plain || w>>21&7 > 2
	case w>>24 == 0xd4: // exceptions: svc continues, brk and hlt do not
		i.Emulated, i.Refused = false, true
		if w&0x1f != 1 {
			i.Control = Trap
		} else {
			i.opaque()
		}
	case w>>24 == 0xd5:
		i.Emulated = false
		systemARM(i, w, rd)
	default:
		return false
	}
	return true
}

// systemARM decodes hints, mrs and msr.
func systemARM(i *Inst, w uint32, rd Reg) {
	switch {
	case w == 0xd503201f:
		i.Control, i.Emulated = Nop, true
	case w&0xfffff01f == 0xd503201f: // hints
		switch h := w >> 5 & 127; {
		case h == 32 || h == 34 || h == 36 || h == 38: // bti: stepped
		case h == 8 || h == 10 || h == 12 || h == 14: // pacia1716 and its kin
			i.writtenARM(17)
		case h == 7 || h >= 24 && h <= 31: // xpaclri, paciasp and its kin
			i.writtenARM(armLR)
		default:
			i.Refused = true
		}
	case w&0xffffffe0 == 0xd53bd040: // mrs xd, tpidr_el0
		i.Meaning.Op, i.Meaning.Dst = MeansThreadPointer, rd
		i.writtenARM(rd)
	case w>>20&3 == 3 || w>>19&7 == 5: // mrs, sysl
		if rd != 31 {
			i.writtenARM(rd)
		}
	case w>>20&3 == 1 || w>>19&7 == 0: // msr, barriers, pstate
		i.Refused = w>>20&3 == 1 || w>>12&15 == 4
	}
}

// registerARM decodes data processing between registers.
func registerARM(i *Inst, w uint32, rd, rn Reg) {
	rm := Reg(w >> 16 & 31)
	if w>>28&1 == 1 && w>>21&15 == 2 { // ccmp, ccmn
		return
	}
	if w>>28&1 == 1 && w>>21&15 == 0 && w>>10&63 != 0 { // rmif, setf
		return
	}
	extended := w>>24&31 == 11 && w>>21&1 == 1
	if rd == 31 && !(extended && w>>29&1 == 0) {
		return
	}
	i.Meaning.Dst = rd
	switch {
	case rd == 31:
	case w&0xffe0fc00 == 0x8b000000 && rn != 31 && rm != 31: // add xd, xn, xm
		i.Meaning.Op, i.Meaning.Addr = MeansAddress, Address{Base: rn, Index: rm}
	case w&0xffe0ffe0 == 0xaa0003e0 && rm != 31: // mov xd, xm
		i.Meaning.Op, i.Meaning.Addr = MeansAddress, Address{Base: rm, Index: NoReg}
	}
	i.writtenARM(rd)
}

// memoryARM decodes loads and stores.
func memoryARM(i *Inst, addr uint64, w uint32, rt, rn Reg) {
	set := func(rs ...Reg) {
		for _, r := range rs {
			if r != 31 {
				i.writtenARM(r)
			}
		}
	}
	fp, rt2, rs := w>>26&1 == 1, Reg(w>>10&31), Reg(w>>16&31)
	switch class := w >> 27 & 7; {
	case class == 1 && !fp && w>>24&1 == 0: // exclusives, ordered, cas
		// Bit 23 distinguishes ldar, stlr and cas from true exclusives.
		if w>>23&1 == 0 && !(w>>31 == 0 && w>>21&1 == 1) {
			i.Locked, i.Refused = true, true
		}
		set(rt, rt2, rs)
	case class == 1 && fp: // vector structures
		if w>>23&1 == 1 {
			i.writtenARM(rn)
		}
	case class == 3 && w>>24&1 == 0: // ldr literal: uprobes cannot step it
		i.Refused = true
		i.Ref = addr + uint64(Signed(w, 5, 19)<<2)
		if !fp {
			set(rt)
		}
	case class == 5: // pairs
		if !fp && w>>22&1 == 1 {
			set(rt, rt2)
		}
		if w>>23&1 == 1 {
			i.writtenARM(rn)
		}
	case class == 7:
		singleARM(i, w, rt, rn, fp, set)
	default: // memory tags, release-consistent unscaled, memory copy
		set(rt, rs)
		i.writtenARM(rn)
	}
}

func singleARM(i *Inst, w uint32, rt, rn Reg, fp bool, set func(...Reg)) {
	size := 1 << (w >> 30)
	load := Address{Base: rn, Index: NoReg}
	plain := w>>22&3 == 1 && size >= 4 && !fp && rt != 31 && rn != 31
	switch {
	case w>>24&1 == 1: // scaled offset
		load.Disp = int64(w>>10&4095) * int64(size)
	case w>>21&1 == 1 && w>>10&3 == 2: // register offset
		load.Index, load.Scaled = Reg(w>>16&31), w>>12&1 == 1
		plain = plain && load.Index != 31
	case w>>21&1 == 1: // LSE atomics, authenticated loads
		set(rt)
		if w>>10&3 != 0 {
			i.writtenARM(rn)
		}
		return
	default:
		load.Disp = Signed(w, 12, 9)
		if w>>10&1 == 1 { // pre- or post-indexed
			i.writtenARM(rn)
			plain = false
		}
	}
	if w>>22&3 != 0 && !fp {
		set(rt)
	}
	if plain {
		i.Meaning.Op, i.Meaning.Dst, i.Meaning.Addr, i.Meaning.Size = MeansLoad, rt, load, size
	}
}

func textARM64(i Inst) string {
	if d, err := arm64asm.Decode(i.Bytes); err == nil {
		return arm64asm.GNUSyntax(d)
	}
	return i.Control.String()
}
