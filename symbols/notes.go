package symbols

import (
	"encoding/binary"
	"iter"
)

// notes yields the descriptions of the notes in a section of the given owner and kind (n_type). It
// ends at a damaged note.
func notes(section []byte, owner string, kind uint32) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for b := section; len(b) >= 12; {
			name := uint64(binary.LittleEndian.Uint32(b))
			desc := uint64(binary.LittleEndian.Uint32(b[4:]))
			typ := binary.LittleEndian.Uint32(b[8:])
			b = b[12:]
			at := (name + 3) &^ 3
			end := at + desc
			if end > uint64(len(b)) {
				return
			}
			if typ == kind && string(b[:name]) == owner+"\x00" && !yield(b[at:end]) {
				return
			}
			b = b[min((end+3)&^3, uint64(len(b))):]
		}
	}
}
