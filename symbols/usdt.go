package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// Marker is a statically defined tracing point (USDT): a nop that a program's author has placed,
// with the note that describes it.
type Marker struct {
	VAddr          uint64 // address of the nop
	Provider, Name string
	Arguments      string // as the note spells them: 8@%rdi
}

// maxMarkers bounds the memory that a broken file can make us allocate.
const maxMarkers = 1 << 16

// Markers returns the tracing points that the file's notes name, in their
// order. Notes that are damaged, or name no code, are left out.
func (o *Object) Markers() (found []Marker) {
	const noteType = 3 // NT_STAPSDT
	for _, s := range o.file.Sections {
		if s.Type != elf.SHT_NOTE || s.Name != ".note.stapsdt" {
			continue
		}
		for description := range notes(o.readAt(s.Offset, s.FileSize), "stapsdt", noteType) {
			if len(found) == maxMarkers {
				return found
			}
			if m, ok := o.marker(description); ok {
				found = append(found, m)
			}
		}
	}
	return found
}

// marker decodes a note's description. It begins with three addresses: of the nop, of .stapsdt.base
// when the note was written, and of a semaphore. The file may have been moved as a whole since
// then. Three strings follow.
func (o *Object) marker(b []byte) (m Marker, ok bool) {
	if len(b) < 24 {
		return m, false
	}
	m.VAddr = binary.LittleEndian.Uint64(b)
	base := binary.LittleEndian.Uint64(b[8:])
	if s := o.file.Section(".stapsdt.base"); s != nil && base != 0 {
		m.VAddr += s.Addr - base
	}
	b = b[24:]
	for _, field := range []*string{&m.Provider, &m.Name, &m.Arguments} {
		text, rest, found := bytes.Cut(b, []byte{0})
		if !found {
			return m, false
		}
		*field, b = string(text), rest
	}
	_, ok = o.codeRange(m.VAddr)
	return m, ok
}
