// Package disasmtest helps the tests of the machine-code packages. It makes pieces of code, the
// control flow and the values of such code, and ELF files as the standard library reads them.
package disasmtest

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"sort"
)

// File is an ELF file on disk.
type File struct {
	arch  string
	loads []segment
	syms  map[string][]uint64
	funcs []span
}

type segment struct {
	vaddr uint64
	data  []byte
}

type span struct{ lo, hi uint64 }

// Open reads an ELF file of amd64 or arm64.
func Open(path string) (*File, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x := &File{syms: map[string][]uint64{}}
	switch f.Machine {
	case elf.EM_X86_64:
		x.arch = "amd64"
	case elf.EM_AARCH64:
		x.arch = "arm64"
	default:
		return nil, fmt.Errorf("%s: machine %v", path, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		x.loads = append(x.loads, segment{p.Vaddr, b})
	}
	spans := map[uint64]uint64{}
	dyn, _ := f.DynamicSymbols()
	static, _ := f.Symbols()
	for _, s := range append(dyn, static...) {
		if t := elf.ST_TYPE(s.Info); t != elf.STT_FUNC && t != elf.STT_GNU_IFUNC || s.Section == elf.SHN_UNDEF {
			continue
		}
		x.addSymbol(s.Name, s.Value)
		spans[s.Value] = max(spans[s.Value], s.Value+s.Size)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_GNU_EH_FRAME {
			x.readFrameTable(p.Vaddr, spans)
		}
	}
	for lo, hi := range spans {
		if hi > lo {
			x.funcs = append(x.funcs, span{lo, hi})
		}
	}
	sort.Slice(x.funcs, func(i, j int) bool { return x.funcs[i].lo < x.funcs[j].lo })
	return x, nil
}

func (x *File) addSymbol(name string, addr uint64) {
	for _, a := range x.syms[name] {
		if a == addr {
			return
		}
	}
	x.syms[name] = append(x.syms[name], addr)
}

// readFrameTable reads the binary search table of .eh_frame_hdr in the form that all linkers write
// (data-relative, signed 4 bytes). It reads each entry's length from the entry's FDE
// (position-relative, signed 4 bytes).
func (x *File) readFrameTable(hdr uint64, spans map[uint64]uint64) {
	h := x.Read(hdr, 12)
	if len(h) < 12 || h[0] != 1 || h[2] != 3 || h[3] != 0x3b {
		return
	}
	n := int(binary.LittleEndian.Uint32(h[8:]))
	table := x.Read(hdr+12, 8*n)
	for ; len(table) >= 8; table = table[8:] {
		lo := hdr + uint64(int64(int32(binary.LittleEndian.Uint32(table))))
		fde := hdr + uint64(int64(int32(binary.LittleEndian.Uint32(table[4:]))))
		if b := x.Read(fde, 16); len(b) == 16 {
			spans[lo] = lo + uint64(binary.LittleEndian.Uint32(b[12:]))
		}
	}
}

// Read returns up to n bytes at a virtual address.
func (x *File) Read(vaddr uint64, n int) []byte {
	for _, s := range x.loads {
		if vaddr >= s.vaddr && vaddr < s.vaddr+uint64(len(s.data)) {
			b := s.data[vaddr-s.vaddr:]
			return b[:min(n, len(b))]
		}
	}
	return nil
}

// FuncRange returns the function that contains vaddr.
func (x *File) FuncRange(vaddr uint64) (lo, hi uint64, ok bool) {
	k := sort.Search(len(x.funcs), func(i int) bool { return x.funcs[i].lo > vaddr }) - 1
	if k < 0 || vaddr >= x.funcs[k].hi {
		return 0, 0, false
	}
	return x.funcs[k].lo, x.funcs[k].hi, true
}

// Symbol returns all addresses of a function symbol.
func (x *File) Symbol(name string) []uint64 { return x.syms[name] }

// Arch returns the Go name of the file's architecture.
func (x *File) Arch() string { return x.arch }

// Funcs returns the first addresses of all functions, ascending.
func (x *File) Funcs() []uint64 {
	var lo []uint64
	for _, f := range x.funcs {
		lo = append(lo, f.lo)
	}
	return lo
}

// Bytes is a piece of code without a file: one function at an address.
type Bytes struct {
	At      uint64
	Data    []byte
	ForArch string
}

// Read returns up to n bytes at a virtual address.
func (c Bytes) Read(vaddr uint64, n int) []byte {
	if vaddr < c.At || vaddr >= c.At+uint64(len(c.Data)) || n < 0 {
		return nil
	}
	b := c.Data[vaddr-c.At:]
	return b[:min(n, len(b))]
}

// FuncRange returns the extent of the piece.
func (c Bytes) FuncRange(vaddr uint64) (lo, hi uint64, ok bool) {
	return c.At, c.At + uint64(len(c.Data)), c.Read(vaddr, 1) != nil
}

// Symbol knows none.
func (c Bytes) Symbol(string) []uint64 { return nil }

// Arch returns the piece's architecture.
func (c Bytes) Arch() string { return c.ForArch }
