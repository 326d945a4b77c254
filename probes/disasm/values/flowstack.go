package values

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm"
)

// stackX86 applies what an x86 instruction does to the stack and to memory.
func (s *State) stackX86(before *State, i disasm.Inst) {
	if i.Control != disasm.Other && i.Control != disasm.Push {
		return
	}
	d, ok := i.X86()
	if !ok {
		return
	}
	top := before.regs[disasm.RSP]
	moved := func(n int64) Value { return Value{top.Off + n, top.Atoms} }
	switch d.Op {
	case x86asm.PUSH:
		v := single(Atom{Origin: AnUnknown, N: i.Addr<<5 + 1})
		if r, ok := d.Args[0].(x86asm.Reg); ok {
			if n, size := disasm.RegX86(r); size == 8 {
				v = before.regs[n]
			}
		}
		s.regs[disasm.RSP] = moved(-8)
		s.store(s.regs[disasm.RSP], 8, v)
		return
	case x86asm.POP:
		if r, ok := d.Args[0].(x86asm.Reg); ok {
			if n, size := disasm.RegX86(r); size == 8 {
				s.regs[n] = before.loaded(top, 8, i.Addr)
			}
		}
		s.regs[disasm.RSP] = moved(8)
		return
	case x86asm.LEAVE:
		frame := before.regs[disasm.RBP]
		s.regs[disasm.RBP] = before.loaded(frame, 8, i.Addr)
		s.regs[disasm.RSP] = Value{frame.Off + 8, frame.Atoms}
		return
	case x86asm.MOV:
		r, isReg := d.Args[0].(x86asm.Reg)
		m, isMem := d.Args[1].(x86asm.Mem)
		if isReg && isMem {
			n, size := disasm.RegX86(r)
			if at, ok := disasm.AddressX86(&i, m); ok && size == 8 {
				s.regs[n] = before.loaded(before.value(at), 8, i.Addr)
			}
		}
	}
	if w, ok := before.storeX86(i, d); ok {
		s.store(w.At, w.Size, w.Value)
	}
}

// Store is one write to memory.
type Store struct {
	At, Value Value
	Size      int
}

// Stores returns what an instruction writes to memory, other than by push.
func (s *State) Stores(i disasm.Inst) []Store {
	if s.arch == "arm64" {
		return s.clone().stackARM(s, i)
	}
	if d, ok := i.X86(); ok && i.Control == disasm.Other {
		if w, ok := s.storeX86(i, d); ok {
			return []Store{w}
		}
	}
	return nil
}

func (s *State) storeX86(i disasm.Inst, d x86asm.Inst) (Store, bool) {
	m, ok := d.Args[0].(x86asm.Mem)
	if !ok || d.MemBytes == 0 || d.Op == x86asm.CMP || d.Op == x86asm.TEST {
		return Store{}, false
	}
	at, ok := disasm.AddressX86(&i, m)
	if !ok {
		return Store{}, false
	}
	v := single(Atom{Origin: AnUnknown, N: i.Addr<<5 + 1})
	switch src := d.Args[1].(type) {
	case x86asm.Reg:
		if n, size := disasm.RegX86(src); d.Op == x86asm.MOV && size == 8 {
			v = s.regs[n]
		}
	case x86asm.Imm:
		if d.Op == x86asm.MOV {
			v = constant(int64(src))
		}
	}
	return Store{s.value(at), v, d.MemBytes}, true
}

// stackARM applies loads, stores and additions that involve the stack pointer, which the decoder
// leaves out. It returns the stores.
func (s *State) stackARM(before *State, i disasm.Inst) (stores []Store) {
	w := binary.LittleEndian.Uint32(i.Bytes)
	rt, rn, rt2 := disasm.Reg(w&31), disasm.Reg(w>>5&31), disasm.Reg(w>>10&31)
	access := func(at Value, load bool, rs ...disasm.Reg) {
		for n, r := range rs {
			place := Value{at.Off + int64(n)*8, at.Atoms}
			v := constant(0) // xzr
			switch {
			case load && r != 31:
				s.regs[r] = before.loaded(place, 8, i.Addr+uint64(n))
			case !load && r != 31:
				v = before.regs[r]
				fallthrough
			case !load:
				s.store(place, 8, v)
				stores = append(stores, Store{place, v, 8})
			}
		}
	}
	// indexed returns the address accessed, and changes the base register.
	indexed := func(d int64, pre, write bool) Value {
		base := before.regs[rn]
		next := Value{base.Off + d, base.Atoms}
		if write {
			s.regs[rn] = next
		}
		if pre {
			return next
		}
		return base
	}
	switch {
	case w>>23&0x1ff == 0x122, w>>23&0x1ff == 0x1a2: // add, sub (immediate), 64 bits
		d := int64(w >> 10 & 4095)
		if w>>22&1 == 1 {
			d <<= 12
		}
		if w>>30&1 == 1 {
			d = -d
		}
		s.regs[rt] = Value{before.regs[rn].Off + d, before.regs[rn].Atoms}
	case w>>30 == 2 && w>>27&7 == 5 && w>>26&1 == 0 && w>>23&3 != 0: // stp, ldp
		mode := w >> 23 & 3
		access(indexed(disasm.Signed(w, 15, 7)*8, mode != 1, mode != 2), w>>22&1 == 1, rt, rt2)
	case w>>22 == 0x3e4, w>>22 == 0x3e5: // str, ldr with an unsigned offset
		access(indexed(int64(w>>10&4095)*8, true, false), w>>22&1 == 1, rt)
	case w>>21 == 0x7c0, w>>21 == 0x7c2: // stur, ldur, indexed str and ldr
		mode := w >> 10 & 3
		if mode != 2 {
			access(indexed(disasm.Signed(w, 12, 9), mode != 1, mode != 0), w>>22&1 == 1, rt)
		}
	}
	return stores
}
