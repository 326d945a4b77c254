package values

import (
	"ompp-attach/probes/disasm"
)

// constantRounds bounds how often Constants goes over a function. Loops become stable in two
// rounds, nested ones in a few more.
const constantRounds = 8

// Constants calls visit for every instruction of a function (as disasm.Func returns it), in order
// of address. arg returns the constant that an argument register holds before that instruction, if
// it is the same on all paths that lead there. This shows which ident_t, lock or outlined function
// a call receives.
func Constants(body []disasm.Inst, visit func(i disasm.Inst, arg func(n int) (value uint64, ok bool))) {
	if len(body) == 0 {
		return
	}
	known := map[uint64]*State{} // the state at targets of jumps, from the jumps seen so far
	targets := map[uint64]bool{}
	for _, i := range body {
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			targets[i.Target] = true
		}
	}
	stable := false
	for round := 0; round < constantRounds && !stable; round++ {
		stable = !pass(body, targets, known, nil)
	}
	if !stable { // believe nothing where paths join
		for t := range targets {
			known[t] = blankState(body[0].Arch)
		}
	}
	pass(body, targets, known, visit)
}

// pass goes over the function once and reports whether it learnt anything new.
func pass(body []disasm.Inst, targets map[uint64]bool, known map[uint64]*State, visit func(disasm.Inst, func(int) (uint64, bool))) (changed bool) {
	s := newState(body[0].Arch)
	for _, i := range body {
		if k := known[i.Addr]; k != nil && targets[i.Addr] {
			if s == nil {
				copied := *k
				s = &copied
			} else {
				s.meet(k)
			}
		}
		if s == nil { // behind a jump, reached by none that is known
			s = blankState(body[0].Arch)
		}
		if visit != nil {
			visit(i, func(n int) (uint64, bool) { return s.Arg(n).Const() })
		}
		s.apply(i)
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			if k := known[i.Target]; k == nil {
				copied := *s
				known[i.Target] = &copied
				changed = true
			} else if k.meet(s) {
				changed = true
			}
		}
		if i.Ends() {
			s = nil
		}
	}
	return changed
}

func blankState(arch string) *State {
	s := &State{arch: arch}
	for r := range s.regs {
		s.regs[r] = single(Atom{Origin: AnUnknown})
	}
	return s
}

// meet forgets everything that other does not confirm, and reports whether it forgot anything.
func (s *State) meet(other *State) (changed bool) {
	for r := range s.regs {
		v, ok := s.regs[r].Const()
		if !ok {
			continue
		}
		if w, ok := other.regs[r].Const(); !ok || v != w {
			s.regs[r] = single(Atom{Origin: AnUnknown})
			changed = true
		}
	}
	return changed
}

// Addresses returns the addresses that instructions of body (as disasm.Func returns it) compute. On
// x86-64 lea x(%rip) computes an address; on arm64 adr, or adrp and a later add to the same
// register.
func Addresses(body []disasm.Inst) []uint64 {
	var (
		found []uint64
		page  [32]uint64
	)
	for _, i := range body {
		m := i.Meaning
		if m.Op == disasm.MeansAddress && i.Ref != 0 && m.Addr.Base == disasm.NoReg {
			found = append(found, i.Ref)
		}
		if m.Op == disasm.MeansAddress && m.Addr.Base != disasm.NoReg && m.Addr.Index == disasm.NoReg && page[m.Addr.Base&31] != 0 {
			found = append(found, page[m.Addr.Base&31]+uint64(m.Addr.Disp))
		}
		for r := range page {
			if m.Writes>>r&1 == 1 {
				page[r] = 0
			}
		}
		if i.Arch == "arm64" && i.Ref != 0 && m.Op == disasm.MeansAddress {
			page[m.Dst&31] = i.Ref
		}
	}
	return found
}
