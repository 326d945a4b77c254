package unwind

import (
	"cmp"
	"encoding/binary"
	"slices"

	"ompp-attach/symbols"
)

// Table is the unwind information of an ELF object. It is safe for concurrent
// use.
type Table struct {
	arm64 bool
	eh    []fde // by start
	debug []fde // entries that eh may lack
}

// fde says how to unwind from a range of code.
type fde struct {
	start, end uint64 // vaddrs
	cie        *cie
	code       []byte // call frame instructions
}

// cie holds the parts that many fdes have in common.
type cie struct {
	codeAlign uint64
	dataAlign int64
	ra        uint64 // the column of the return address
	signal    bool   // frames of the return from a signal handler
	sized     bool   // fdes have augmentation data
	encoding  byte   // of addresses in fdes
	code      []byte // initial instructions
}

var tables symbols.Memo[*Table]

// For returns an object's table; it is made once.
func For(o *symbols.Object) *Table {
	return tables.Of(o, func(o *symbols.Object) *Table {
		data, vaddr := o.EHFrame()
		return New(o.Arch(), data, vaddr, o.DebugFrame())
	})
}

// New reads the contents of .eh_frame, which is loaded at vaddr, and of .debug_frame. Either may be
// empty. Entries that cannot be read are left out.
func New(arch string, eh []byte, vaddr uint64, debug []byte) *Table {
	return &Table{
		arm64: arch == "arm64",
		eh:    (&section{data: eh, vaddr: vaddr, eh: true}).fdes(),
		debug: (&section{data: debug}).fdes(),
	}
}

// find returns the fde that covers a vaddr, or nil.
func (t *Table) find(pc uint64) *fde {
	for _, list := range [][]fde{t.eh, t.debug} {
		i, found := slices.BinarySearchFunc(list, pc, func(f fde, pc uint64) int { return cmp.Compare(f.start, pc) })
		if !found {
			i--
		}
		if i >= 0 && pc < list[i].end {
			return &list[i]
		}
	}
	return nil
}

type section struct {
	data  []byte
	vaddr uint64
	eh    bool
	cies  map[uint64]*cie // by offset; nil: cannot be read
}

// fdes reads all entries of a section.
func (s *section) fdes() (list []fde) {
	s.cies = map[uint64]*cie{}
	for at := uint64(0); ; {
		e, next, ok := s.entry(at)
		if !ok || s.eh && !e.isCIE && !e.isFDE {
			break
		}
		if at = next; !e.isFDE {
			continue
		}
		if f, ok := s.fde(&e); ok {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b fde) int { return cmp.Compare(a.start, b.start) })
	// If the linker has folded several functions into one, one entry is enough.
	return slices.Clip(slices.CompactFunc(list, func(a, b fde) bool { return a.start == b.start }))
}

// entry is a CIE, an FDE, or nothing: a terminator.
type entry struct {
	isCIE, isFDE bool
	cie          uint64 // of an FDE: where its CIE is
	body         reader
}

// entry reads the head of the entry at an offset, and returns the offset of the next one.
func (s *section) entry(at uint64) (e entry, next uint64, ok bool) {
	if at > uint64(len(s.data)) {
		return e, 0, false
	}
	r := reader{b: s.data, at: at}
	size, wide := uint64(r.u32()), false
	if size == 0xffffffff { // 64-bit DWARF
		size, wide = r.u64(), true
	}
	if r.bad || size > uint64(len(s.data))-r.at {
		return e, 0, false
	}
	next = r.at + size
	if size == 0 {
		return e, next, true
	}
	r.b = s.data[:next]
	field := r.at
	id := uint64(0)
	if wide && !s.eh {
		id = r.u64()
		e.isCIE = id == 1<<64-1
	} else {
		id = uint64(r.u32())
		e.isCIE = id == 0xffffffff && !s.eh || id == 0 && s.eh
	}
	e.isFDE = !e.isCIE
	if e.cie = id; s.eh {
		e.cie = field - id
	}
	e.body = r
	return e, next, !r.bad
}

// cie reads the CIE at an offset.
func (s *section) cie(at uint64) *cie {
	c, known := s.cies[at]
	if !known {
		if e, _, ok := s.entry(at); ok && e.isCIE {
			c = s.readCIE(e.body)
		}
		s.cies[at] = c
	}
	return c
}

func (s *section) readCIE(r reader) *cie {
	version := r.u8()
	if version != 1 && version != 3 && version != 4 {
		return nil
	}
	augmentation := r.text()
	if augmentation == "eh" { // of GCC 2
		return nil
	}
	if version == 4 {
		if address, segment := r.u8(), r.u8(); address != 8 || segment != 0 {
			return nil
		}
	}
	c := &cie{codeAlign: r.uleb(), dataAlign: r.sleb()}
	if version == 1 {
		c.ra = uint64(r.u8())
	} else {
		c.ra = r.uleb()
	}
	if augmentation != "" {
		if augmentation[0] != 'z' {
			return nil
		}
		c.sized = true
		size := r.uleb()
		rest := r
		r.skip(size)
		rest.b = r.b[:r.at]
		for _, a := range augmentation[1:] {
			switch a {
			case 'L':
				rest.u8()
			case 'P':
				if e := rest.u8(); e&0x70 != peAligned {
					rest.value(e)
				}
			case 'R':
				c.encoding = rest.u8()
			case 'S':
				c.signal = true
			case 'B', 'G': // arm64: which key signs return addresses; memory tagging of the stack
			}
		}
		if rest.bad {
			return nil
		}
	}
	if r.bad || c.ra >= numRegisters {
		return nil
	}
	c.code = r.rest()
	return c
}

func (s *section) fde(e *entry) (f fde, ok bool) {
	c := s.cie(e.cie)
	if c == nil {
		return f, false
	}
	r := e.body
	if f.start, ok = s.address(&r, c.encoding); !ok {
		return f, false
	}
	size := r.value(c.encoding & 0x0f)
	f.end = f.start + size
	if c.sized {
		r.skip(r.uleb())
	}
	f.cie, f.code = c, r.rest()
	// Code that the linker has dropped has the address 0.
	return f, !r.bad && f.start != 0 && f.end > f.start
}

// How addresses are written (LSB 5.0, Core, 10.5.1: DW_EH_PE_*).
const (
	peRelative = 0x70 // mask: to what
	pePC       = 0x10
	peAligned  = 0x50
	peIndirect = 0x80
)

// address reads a vaddr.
func (s *section) address(r *reader, encoding byte) (v uint64, ok bool) {
	at := r.at
	v = r.value(encoding)
	switch encoding & (peRelative | peIndirect) {
	case 0:
	case pePC:
		v += s.vaddr + at
	default: // no compiler writes these here
		return 0, false
	}
	return v, !r.bad
}

// reader reads a section's bytes. Behind their end it returns zeros and sets bad.
type reader struct {
	b   []byte
	at  uint64
	bad bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b))-r.at {
		r.bad, r.at = true, uint64(len(r.b))
		return make([]byte, 8)[:min(n, 8)]
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) u8() byte    { return r.take(1)[0] }
func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

func (r *reader) skip(n uint64) { r.take(n) }

func (r *reader) rest() []byte { return r.b[r.at:] }

func (r *reader) text() string {
	i := slices.Index(r.b[r.at:], 0)
	if i < 0 {
		r.bad = true
		return ""
	}
	return string(r.take(uint64(i) + 1)[:i])
}

func (r *reader) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

func (r *reader) sleb() (v int64) {
	for shift := 0; ; {
		b := r.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if shift += 7; b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// value reads a number in the format of an encoding's lower half.
func (r *reader) value(encoding byte) uint64 {
	switch encoding & 0x0f {
	case 0x00, 0x04, 0x0c: // absptr, udata8, sdata8
		return r.u64()
	case 0x01:
		return r.uleb()
	case 0x02:
		return uint64(r.u16())
	case 0x03:
		return uint64(r.u32())
	case 0x09:
		return uint64(r.sleb())
	case 0x0a:
		return uint64(int64(int16(r.u16())))
	case 0x0b:
		return uint64(int64(int32(r.u32())))
	}
	r.bad = true
	return 0
}
