package symbols

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Targets are the places through which code calls some functions: addresses of code, and slots in
// data that hold such addresses.
type Targets struct {
	code, slots places
}

// places is a set of addresses with its bounds. Most other addresses lie outside of the bounds.
type places struct {
	lo, hi uint64
	in     map[uint64]bool
}

func (p *places) add(vaddr uint64) {
	if len(p.in) == 0 {
		p.in, p.lo, p.hi = map[uint64]bool{}, vaddr, vaddr
	}
	p.in[vaddr] = true
	p.lo, p.hi = min(p.lo, vaddr), max(p.hi, vaddr)
}

func (p *places) has(vaddr uint64) bool { return vaddr-p.lo <= p.hi-p.lo && p.in[vaddr] }

// Has tells whether an address of code is one of the targets.
func (t *Targets) Has(vaddr uint64) bool { return t.code.has(vaddr) }

// Targets returns the places through which the file calls functions of these names: its own
// functions, stubs of the procedure linkage table, and slots.
func (o *Object) Targets(names ...string) *Targets {
	t := o.imported(func(name string) bool { return slices.Contains(names, name) })
	o.named(names, func(_ string, vaddr uint64) { t.code.add(vaddr) })
	return t
}

// TargetsLike is Targets for the functions with a name that wanted accepts.
func (o *Object) TargetsLike(wanted func(name string) bool) *Targets {
	t := o.imported(wanted)
	o.Symbols(func(name string, vaddr, _ uint64) {
		if wanted(name) {
			t.code.add(vaddr)
		}
	})
	return t
}

// imported returns the stubs and slots through which functions of other files
// are called.
func (o *Object) imported(wanted func(name string) bool) *Targets {
	t := &Targets{}
	for at, name := range o.Stubs() {
		if wanted(name) {
			t.code.add(at)
		}
	}
	relocs := o.relocs()
	for slot, name := range relocs.slots {
		// each further stretch of slots costs another search through all code
		if !relocs.stubs[slot] && wanted(name) {
			t.slots.add(slot)
		}
	}
	return t
}

// Branches returns the addresses of bytes in code that may be a call of a target, or a jump to one,
// in ascending order. Whether they are instructions can only be told by decoding the function from
// its start.
func (o *Object) Branches(to *Targets) []uint64 {
	const (
		chunk = 1 << 17 // fits in a core's own cache
		tail  = 8       // the longest instruction in question, less a byte, rounded up
	)
	look := branchesAMD64
	if o.Arch() == "arm64" {
		look = branchesARM64
	}
	var starts []Range
	for _, r := range o.TextRanges() {
		for lo := r.Lo; lo < r.Hi; lo += chunk {
			starts = append(starts, Range{Lo: lo, Hi: r.Hi})
		}
	}
	found := make([][]uint64, len(starts))
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(starts)) {
		done.Go(func() {
			var b []byte // read in pieces: the code of some programs has hundreds of MB
			for n := int(next.Add(1)) - 1; n < len(starts); n = int(next.Add(1)) - 1 {
				r := starts[n]
				b = o.readInto(b, r.Lo, int(min(r.Hi-r.Lo, chunk+tail)))
				found[n] = look(b, min(len(b), chunk), r.Lo, to)
			}
		})
	}
	done.Wait()
	return slices.Concat(found...)
}

// branchesAMD64 looks at the first n bytes of b. Bytes that look like opcodes are frequent, but
// hardly any four bytes are the distance to a target. So it looks for the distance first.
func branchesAMD64(b []byte, n int, base uint64, to *Targets) (found []uint64) {
	add := func(at int) {
		if 0 <= at && at < n {
			found = append(found, base+uint64(at))
		}
	}
	to.code.leading(b, base, func(at int) {
		switch {
		case at > 0 && b[at-1]&0xfe == 0xe8: // call rel32, jmp rel32
			add(at - 1)
		case at > 1 && b[at-2] == 0x0f && b[at-1]&0xf0 == 0x80: // jcc rel32
			add(at - 2)
		}
	})
	to.slots.leading(b, base, func(at int) {
		// call *slot(%rip), jmp *slot(%rip)
		if at > 1 && b[at-2] == 0xff && (b[at-1] == 0x15 || b[at-1] == 0x25) {
			add(at - 2)
		}
	})
	slices.Sort(found)
	return found
}

// leading visits the positions at which four bytes, as the end of an instruction, denote one of the
// places, in any order. Places mostly lie close together. Then the upper half of the distance is
// the same in a whole block of code, and the search can look for one byte of this half.
func (p *places) leading(b []byte, base uint64, visit func(at int)) {
	const few = 4
	if len(p.in) == 0 {
		return
	}
	for lo, hi := 0, 0; lo+4 <= len(b); lo = hi {
		// The distances to the first and the last place, at lo. From lo to hi, the upper halves of
		// both stay the same.
		first, last := int64(p.lo-base)-int64(lo+4), int64(p.hi-base)-int64(lo+4)
		hi = min(lo+int(min(uint16(first), uint16(last)))+1, len(b)-3)
		least, most := max(first, math.MinInt32)>>16, min(last, math.MaxInt32)>>16
		if most-least >= few {
			for at := lo; at < hi; at++ {
				if p.has(relative(b, at, base)) {
					visit(at)
				}
			}
			continue
		}
		for upper := least; upper <= most; upper++ {
			third, fourth := byte(upper), byte(upper>>8)
			for at := lo; at < hi; at++ {
				k := bytes.IndexByte(b[at+2:hi+2], third)
				if k < 0 {
					break
				}
				if at += k; b[at+3] == fourth && p.has(relative(b, at, base)) {
					visit(at)
				}
			}
		}
	}
}

// relative returns the address that the 4 bytes at b[at] denote, as the end of an instruction.
func relative(b []byte, at int, base uint64) uint64 {
	return base + uint64(at) + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(b[at:]))))
}

func branchesARM64(b []byte, n int, base uint64, to *Targets) (found []uint64) {
	for i := 0; i+4 <= n; i += 4 {
		w := binary.LittleEndian.Uint32(b[i:])
		if w&0x7c000000 != 0x14000000 { // b, bl
			continue
		}
		if to.code.has(base + uint64(i) + uint64(int64(int32(w<<6))>>6<<2)) {
			found = append(found, base+uint64(i))
		}
	}
	return found
}
