package unwind

import (
	"encoding/binary"

	"ompp-attach/symbols"
)

// Entry is a thread at a probe: what is needed to find its callers.
type Entry struct {
	PC, SP uint64
	FP     uint64 // rbp, x29
	LR     uint64 // arm64: x30
	Stack  []byte // from SP upwards
}

// maxFrames bounds how many frames of a wrapper are looked through.
const maxFrames = 16

// Caller returns where the first function returns to that is no wrapper, from a
// probe at or near the entry of a function that it called, directly or through
// wrappers. modules are sorted, as symbols.Modules returns them. If it cannot
// be found, ok is false, and site is the last return address that could be: in
// a wrapper, or 0.
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
			return site, i > 0 // code of no file is nobody's wrapper
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
