package symbols

import "slices"

// References are the places in a file's code that lead to targets.
type References struct {
	// Branches are bytes that may be calls or jumps with a 32-bit distance: see Object.Branches.
	Branches []uint64
	// Others are other bytes that denote a target. Such an instruction may take the target's
	// address, or jump there with an 8-bit distance.
	Others []uint64
}

// References finds all bytes in the code that may denote a target by a distance. It knows x86-64
// only.
func (o *Object) References(to *Targets) (r References) {
	r.Branches = o.Branches(to)
	branch := map[uint64]bool{}
	for _, at := range r.Branches {
		branch[at] = true
	}
	for _, text := range o.TextRanges() {
		b := o.Read(text.Lo, int(text.Hi-text.Lo))
		to.code.leading(b, text.Lo, func(at int) {
			// A call or jump has one byte before the distance, a conditional jump two.
			// A distance of 0 is padding right before a function.
			if vaddr := text.Lo + uint64(at); !branch[vaddr-1] && !branch[vaddr-2] && !to.code.has(vaddr+4) {
				r.Others = append(r.Others, vaddr)
			}
		})
		r.Others = append(r.Others, shortJumps(b, text.Lo, &to.code)...)
	}
	slices.Sort(r.Others)
	return r
}

// shortJumps finds bytes near the targets that may be jumps with an 8-bit distance.
func shortJumps(b []byte, base uint64, to *places) (found []uint64) {
	const reach = 130 // the instruction's 2 bytes, and 128
	if len(to.in) == 0 {
		return nil
	}
	first, last := max(int64(to.lo-base)-reach, 0), min(int64(to.hi-base)+reach, int64(len(b))-2)
	for at := first; at <= last; at++ {
		// jmp, jcc, loop and jrcxz
		short := b[at] == 0xeb || b[at]&0xf0 == 0x70 || b[at]&0xfc == 0xe0
		if short && b[at+1] != 0 && to.has(base+uint64(at)+2+uint64(int64(int8(b[at+1])))) {
			found = append(found, base+uint64(at))
		}
	}
	return found
}

// OnlyCalled tells whether the file uses a function of another file only through stubs of its
// procedure linkage table. Otherwise the function's address is in its data, where any code may find
// it.
func (o *Object) OnlyCalled(name string) bool {
	if o.relocs().taken[name] {
		return false
	}
	for _, s := range o.symbols().dynamic {
		// In a program at fixed addresses, a stub stands for a function whose address is taken.
		if s.undef && s.value != 0 && s.name == name {
			return false
		}
	}
	for _, stub := range o.Stubs() {
		if stub == name {
			return true
		}
	}
	return false
}

// PointedTo tells whether the loader writes the address vaddr of the file into the file's data.
func (o *Object) PointedTo(vaddr uint64) bool {
	return slices.ContainsFunc(o.relocs().pointers, func(p pointer) bool { return p.known && p.target == vaddr })
}
