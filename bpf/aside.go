package bpf

import (
	"encoding/binary"
	"fmt"
)

// aside holds ring entries in memory, in order. As in a ring, a word with the entry's length stands
// before each entry, and entries are padded to whole words.
type aside struct {
	bytes []byte
	at    int // offset in bytes: entries before it have been read
}

const asideHead = 8

func (a *aside) add(entry []byte) {
	a.bytes = binary.NativeEndian.AppendUint64(a.bytes, uint64(len(entry)))
	a.bytes = append(a.bytes, entry...)
	a.bytes = append(a.bytes, make([]byte, -len(entry)&7)...)
}

// read is recordRing.read for the entries that were set aside.
func (a *aside) read(limit int, use func([]byte) error) (n int, err error) {
	for n < limit && a.at < len(a.bytes) {
		size := int(binary.NativeEndian.Uint64(a.bytes[a.at:]))
		from := a.at + asideHead
		if err := use(a.bytes[from : from+size : from+size]); err != nil {
			return n, err
		}
		n++
		a.at = from + (size+7)&^7
	}
	if a.at == len(a.bytes) {
		*a = aside{}
	}
	return n, nil
}

// SetAside makes room in a ring before its records can be used. It copies the records into memory.
// The next Drain hands those over first. Once limit bytes are in memory, further records stay in
// the ring.
func (r *Ring) SetAside(limit int) error {
	for len(r.aside.bytes) < limit {
		n, _, err := r.memory.read(1, func(b []byte) error {
			r.aside.add(b)
			return nil
		})
		if err != nil {
			return fmt.Errorf("set records aside: %w", err)
		}
		if n == 0 {
			break
		}
	}
	return nil
}
