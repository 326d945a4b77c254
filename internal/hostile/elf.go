package hostile

import (
	"bytes"
	"encoding/binary"
)

// Sizes and offsets of ELF-64 (elf.h).
const (
	headerSize  = 64
	programSize = 56
	sectionSize = 64
	phoff       = 32 // in the header
	shoff       = 40
	phnum       = 56
	shnum       = 60
	offsetIn    = 24 // in a section's header
	sizeIn      = 32
)

// An edit is made of so many bytes of what a fuzzer makes up. They are a kind, a number of what is
// edited, a place in it, and a value.
const editSize = 14

// mostEdits bounds the edits of one file: one that is damaged everywhere is opened by nobody.
const mostEdits = 24

// odd are values that break those who believe them.
var odd = []uint64{0, 1, 7, 0x7f, 0xff, 0xffff, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}

// ELF returns a copy of an ELF-64 file that is damaged as the edits say: in its headers, in its
// tables, by its end.
func ELF(whole, edits []byte) []byte {
	b := bytes.Clone(whole)
	if len(b) < headerSize {
		return b
	}
	program := table{binary.LittleEndian.Uint64(whole[phoff:]), programSize, uint64(binary.LittleEndian.Uint16(whole[phnum:]))}
	section := table{binary.LittleEndian.Uint64(whole[shoff:]), sectionSize, uint64(binary.LittleEndian.Uint16(whole[shnum:]))}
	for n := 0; n < mostEdits && len(edits) >= editSize; n, edits = n+1, edits[editSize:] {
		kind, number := edits[0], uint64(edits[1])
		place, value := uint64(binary.LittleEndian.Uint32(edits[2:])), binary.LittleEndian.Uint64(edits[6:])
		if kind&0x10 != 0 {
			value = odd[value%uint64(len(odd))]
		}
		width := uint64(1) << (kind >> 5 % 4)
		switch kind % 8 {
		case 0:
			put(b, place%headerSize, width, value)
		case 1:
			put(b, program.at(number)+place%programSize, width, value)
		case 2, 3:
			put(b, section.at(number)+place%sectionSize&^7, 8, value)
		case 4:
			b = b[:max(headerSize, uint64(len(b))-place%uint64(len(b)))]
		default: // in what a section holds
			h := section.at(number)
			if h+sectionSize > uint64(len(whole)) {
				continue
			}
			if size := binary.LittleEndian.Uint64(whole[h+sizeIn:]); size > 0 {
				put(b, binary.LittleEndian.Uint64(whole[h+offsetIn:])+place%size, width, value)
			}
		}
	}
	return b
}

// table is one of headers.
type table struct{ offset, size, n uint64 }

func (t table) at(number uint64) uint64 { return t.offset + number%max(t.n, 1)*t.size }

func put(b []byte, at, width, value uint64) {
	for i := range width {
		if at+i < uint64(len(b)) {
			b[at+i] = byte(value >> (8 * i))
		}
	}
}
