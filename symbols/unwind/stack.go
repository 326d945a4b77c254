package unwind

import (
	"encoding/binary"

	"ompp-attach/symbols"
)

// Thread is the part of a thread's state that is needed to follow its stack. The thread was
// interrupted in any place.
type Thread struct {
	PC    uint64
	Reg   []uint64 // by DWARF number, as far as known
	Stack []byte   // from the stack pointer up
	// Returns are the real return addresses of functions with return probes, the innermost first.
	// On the stack, the kernel has replaced these addresses by that of its Trampoline.
	Trampoline uint64
	Returns    []uint64
}

// maxDepth bounds how many frames of a stack are followed.
const maxDepth = 512

// Stack appends the place of a thread to pcs, and then, from the innermost frame out, the return
// address of each function. For a frame that a signal interrupted, it appends the next
// instruction's address plus one byte. So one byte before each address but the first lies in the
// instruction that the frame executes.
//
// complete says that the outermost frame was reached. Code without unwind information is supposed
// to keep a frame pointer. modules are sorted, as symbols.Modules returns them.
func Stack(modules []symbols.Module, t *Thread, pcs []uint64) (_ []uint64, complete bool) {
	if len(modules) == 0 {
		return append(pcs, t.PC), false
	}
	regs, returns := Registers{PC: t.PC}, 0 // returns: how many of t.Returns were used so far
	if t.PC == t.Trampoline && len(t.Returns) > 0 && t.Returns[0] != 0 {
		// the function has returned to the trampoline, but the kernel has not handled that yet
		regs.PC, returns = t.Returns[0], 1
	}
	for i, v := range t.Reg {
		regs.Set(i, v)
	}
	s := stack{modules: modules, bytes: t.Stack, sp: AMD64RSP, fp: AMD64RBP}
	if modules[0].Object().Arch() == "arm64" {
		s.sp, s.fp = ARM64SP, ARM64FP
	}
	s.low, _ = regs.Get(s.sp)
	for in := regs.PC; len(pcs) < maxDepth; in = regs.PC - 1 {
		pcs = append(pcs, regs.PC)
		var ok bool
		if regs, ok = s.step(in, regs); !ok {
			return pcs, false
		}
		if regs.PC == t.Trampoline && t.Trampoline != 0 {
			if returns == len(t.Returns) || t.Returns[returns] == 0 {
				return pcs, false
			}
			regs.PC = t.Returns[returns]
			returns++
		}
		if regs.PC == 0 {
			return pcs, true
		}
		if regs.Interrupted {
			regs.PC++
		}
	}
	return pcs, false
}

// stack is a copy of a part of a thread's stack.
type stack struct {
	modules []symbols.Module
	low     uint64 // address of the first byte
	bytes   []byte
	sp, fp  int // registers
}

func (s *stack) read(addr uint64) (uint64, bool) {
	at := addr - s.low
	if addr < s.low || at+8 > uint64(len(s.bytes)) || at+8 < at {
		return 0, false
	}
	return binary.LittleEndian.Uint64(s.bytes[at:]), true
}

func (s *stack) step(in uint64, regs Registers) (caller Registers, ok bool) {
	m, found := symbols.Find(s.modules, in)
	if !found {
		return s.byFramePointer(regs)
	}
	t, at := For(m.Object()), m.VAddr(in)
	if t.find(at) == nil {
		return s.byFramePointer(regs)
	}
	return t.Step(at, regs, s.read)
}

// byFramePointer finds the caller by the chain of frame pointers. On both architectures a frame
// pointer points to the caller's frame pointer, which the return address follows. A zero marks the
// end of the chain.
func (s *stack) byFramePointer(regs Registers) (caller Registers, ok bool) {
	fp, known := regs.Get(s.fp)
	if !known {
		return caller, false
	}
	if fp == 0 {
		return caller, true
	}
	next, ok1 := s.read(fp)
	pc, ok2 := s.read(fp + 8)
	if sp, _ := regs.Get(s.sp); !ok1 || !ok2 || fp < sp {
		return caller, false
	}
	// If the register holds another value, it is no frame pointer.
	if _, inCode := symbols.Find(s.modules, pc); !inCode && pc != 0 && (next <= fp || pc < 1<<16 || pc >= 1<<56) {
		return caller, false
	}
	caller.PC = pc
	caller.Set(s.fp, next)
	caller.Set(s.sp, fp+16)
	return caller, true
}
