package symbols

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
)

// Targets are places that code may lead to: addresses of code, and slots in
// data that hold such addresses.
type Targets struct {
	code, slots places
}

// places is a set of addresses with its bounds, which nearly all others miss.
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

// window returns what must be added to a distance from base, in 32 bits, to
// compare it with the second result: greater ones lead to none of the places.
func (p *places) window(base uint64) (add, span uint32) {
	return uint32(base - p.lo), uint32(min(p.hi-p.lo, 1<<32-1))
}

// Targets returns the places through which the file calls functions of these
// names: its own functions, stubs of the procedure linkage table, and slots.
func (o *Object) Targets(wanted func(name string) bool) *Targets {
	t := &Targets{}
	for at, name := range o.Stubs() {
		if wanted(name) {
			t.code.add(at)
		}
	}
	for slot, name := range o.relocs().slots {
		if wanted(name) {
			t.slots.add(slot)
		}
	}
	o.Symbols(func(name string, vaddr, _ uint64) {
		if wanted(name) {
			t.code.add(vaddr)
		}
	})
	return t
}

// Branches returns the addresses in code at which bytes stand that may be a
// call of one of the targets, or a jump to one, in ascending order. Whether
// they are instructions only decoding from the function's start tells.
func (o *Object) Branches(to *Targets) []uint64 {
	const (
		chunk = 1 << 20
		tail  = 8 // the longest instruction looked for, less a byte, rounded
	)
	look := branchesAMD64
	if o.Arch() == "arm64" {
		look = branchesARM64
	}
	var starts []Range
	for _, r := range o.TextRanges() {
		for lo := r.Lo; lo < r.Hi; lo += chunk {
			starts = append(starts, Range{lo, r.Hi})
		}
	}
	found := make([][]uint64, len(starts))
	work := make(chan int)
	var done sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(starts)) {
		done.Go(func() {
			var b []byte // a text of hundreds of MB is not kept in memory
			for n := range work {
				r := starts[n]
				b = o.readInto(b, r.Lo, int(min(r.Hi-r.Lo, chunk+tail)))
				found[n] = look(b, min(len(b), chunk), r.Lo, to)
			}
		})
	}
	for n := range starts {
		work <- n
	}
	close(work)
	done.Wait()
	return slices.Concat(found...)
}

// branchesAMD64 looks at the first n bytes of b. Nearly no four bytes are the
// distance of a target, while opcodes are frequent among bytes: so the distance
// is tested first.
func branchesAMD64(b []byte, n int, base uint64, to *Targets) (found []uint64) {
	add, span := to.code.window(base + 5)
	check := func(at int) { // at is the opcode's last byte
		switch target := relative(b, at+1, base); {
		case !to.code.has(target):
		case at < n && b[at]&0xfe == 0xe8: // call rel32, jmp rel32
			found = append(found, base+uint64(at))
		case at > 0 && b[at-1] == 0x0f && b[at]&0xf0 == 0x80: // jcc rel32
			found = append(found, base+uint64(at)-1)
		}
	}
	at := 0
	for ; at+9 <= len(b) && at+3 <= n; at += 4 {
		w, x := binary.LittleEndian.Uint64(b[at+1:]), uint32(at)+add
		if uint32(w)+x <= span || uint32(w>>8)+x+1 <= span || uint32(w>>16)+x+2 <= span || uint32(w>>24)+x+3 <= span {
			for k := range 4 {
				check(at + k)
			}
		}
	}
	for ; at+5 <= len(b) && at <= n; at++ {
		check(at)
	}
	for _, opcode := range [][]byte{{0xff, 0x15}, {0xff, 0x25}} { // call *slot(%rip), jmp *slot(%rip)
		for at := 0; ; at++ {
			k := bytes.Index(b[at:min(n+1, len(b))], opcode)
			if k < 0 || at+k+6 > len(b) {
				break
			}
			if at += k; to.slots.has(relative(b, at+2, base)) {
				found = append(found, base+uint64(at))
			}
		}
	}
	slices.Sort(found)
	return found
}

// relative returns the address that the 4 bytes at b[at], an instruction's
// last, denote.
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
