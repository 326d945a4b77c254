package unwind

import (
	"encoding/binary"

	"ompp-attach/symbols"
)

// Entry is the part of a thread's state at a probe that is needed to find the callers.
type Entry struct {
	PC, SP uint64
	FP     uint64 // rbp, x29
	LR     uint64 // arm64: x30
	Stack  []byte // the stack from SP upwards
}

// maxFrames is how many frames of wrappers are followed at most.
const maxFrames = 16

// Caller returns the call site of the first caller that is no wrapper. e is the state at a probe at
// or near the entry of a function. The caller called this function directly or through wrappers.
// modules are sorted, as symbols.Modules returns them. If the site cannot be found, ok is false.
// Then site is the last return address that was found, which lies in a wrapper, or 0.
func Caller(modules []symbols.Module, e Entry, wrapper func(m *symbols.Module, vaddr uint64) bool) (site uint64, ok bool) {
	regs := Registers{PC: e.PC}
	read := func(addr uint64) (uint64, bool) {
		at := addr - e.SP
		if addr < e.SP || at+8 > uint64(len(e.Stack)) || at+8 < at {
			return 0, false
		}
		return binary.LittleEndian.Uint64(e.Stack[at:]), true
	}
	in := e.PC
	for i := range maxFrames {
		m, found := symbols.Find(modules, in)
		if !found {
			return site, i > 0 // code that is in no file is no wrapper
		}
		if i == 0 {
			regs.enter(m.Object().Arch(), &e)
		} else if !wrapper(m, m.VAddr(in)) {
			return site, true
		}
		if regs, ok = For(m.Object()).Step(m.VAddr(in), regs, read); !ok || regs.PC == 0 {
			return site, false
		}
		site, in = regs.PC, regs.PC-1
	}
	return site, false
}

func (r *Registers) enter(arch string, e *Entry) {
	if arch == "arm64" {
		r.Set(ARM64SP, e.SP)
		r.Set(ARM64FP, e.FP)
		r.Set(ARM64LR, e.LR)
		return
	}
	r.Set(AMD64RSP, e.SP)
	r.Set(AMD64RBP, e.FP)
}
