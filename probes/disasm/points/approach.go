package points

import (
	"slices"

	"ompp-attach/probes/disasm"
)

// Approach is an instruction through which control comes to another instruction.
type Approach struct {
	Inst disasm.Inst
	When When // the hits that count: Always, ZeroSet or ZeroClear
}

// Approaches returns instructions of a function (as disasm.Parts returns it) that the kernel
// emulates. Before each execution of the instruction at addr, exactly one of them is executed such
// that its hit counts (Approach.When). No other function is called between that hit and addr. If
// there are none, or if the instruction at addr is emulated itself, only that instruction is
// returned. The result is nil if no instruction is at addr.
func Approaches(parts [][]disasm.Inst, addr uint64) []Approach {
	w := walker{body: slices.Concat(parts...), sources: map[uint64][]int{}}
	at := slices.IndexFunc(w.body, func(i disasm.Inst) bool { return i.Addr == addr })
	if at < 0 {
		return nil
	}
	itself := []Approach{{w.body[at], Always}}
	if w.body[at].Emulated {
		return itself
	}
	for n, i := range w.body {
		switch {
		case i.Control == disasm.Jump || i.Control == disasm.Jcc:
			w.sources[i.Target] = append(w.sources[i.Target], n)
		case i.Control == disasm.JumpIndirect && i.Ref == 0:
			return itself // it may jump by a table, whose targets are not known
		}
	}
	if !w.back(at) || w.twice() {
		return itself
	}
	return w.found
}

type walker struct {
	body    []disasm.Inst
	sources map[uint64][]int // jumps by target
	found   []Approach
}

// back finds instructions that cover all ways to body[k], walking against the flow. From each of
// them control leads to body[k] without a further branch. So no way is covered twice, unless one
// instruction is found twice.
func (w *walker) back(k int) bool {
	for {
		i := w.body[k]
		from := w.sources[i.Addr]
		for _, n := range from {
			if !w.take(n, true) {
				return false
			}
		}
		if k == 0 {
			return false // the function's entry has callers
		}
		k--
		prev := w.body[k]
		switch {
		case prev.Next() != i.Addr || prev.Ends(): // only jumps come here
			return len(from) > 0
		case prev.Control == disasm.Jcc:
			return w.take(k, false)
		case prev.Control == disasm.Call || prev.Control == disasm.CallIndirect:
			return false
		case prev.Emulated:
			w.found = append(w.found, Approach{prev, Always})
			return true
		}
	}
}

// take covers the way over the jump body[n], taken or not taken.
func (w *walker) take(n int, taken bool) bool {
	j := w.body[n]
	if !j.Emulated {
		return false
	}
	a := Approach{Inst: j}
	if j.Control == disasm.Jcc {
		switch {
		case j.Cond == disasm.Equal && taken, j.Cond == disasm.NotEqual && !taken:
			a.When = ZeroSet
		case j.Cond == disasm.NotEqual && taken, j.Cond == disasm.Equal && !taken:
			a.When = ZeroClear
		default:
			return false
		}
	}
	w.found = append(w.found, a)
	return true
}

// twice reports whether an instruction was found twice, as a conditional jump
// to the instruction behind it would be.
func (w *walker) twice() bool {
	seen := map[uint64]bool{}
	for _, a := range w.found {
		if seen[a.Inst.Addr] {
			return true
		}
		seen[a.Inst.Addr] = true
	}
	return false
}
