package bpf

import (
	"encoding/binary"
	"fmt"
)

// aside are ring entries in memory, in order: each behind a word that holds its
// length, and filled up to whole words, so that they lie as they do in a ring.
type aside struct {
	bytes []byte
	at    int // what is before it has been read
}

const asideHead = 8

func (a *aside) add(entry []byte) {
	a.bytes = binary.NativeEndian.AppendUint64(a.bytes, uint64(len(entry)))
	a.bytes = append(a.bytes, entry...)
	a.bytes = append(a.bytes, make([]byte, -len(entry)&7)...)
}

// read is memoryRing.read for what was set aside.
func (a *aside) read(limit int, use func([]byte) (int, error)) (n int, err error) {
	for n < limit && a.at < len(a.bytes) {
		size := int(binary.NativeEndian.Uint64(a.bytes[a.at:]))
		from := a.at + asideHead
		some, err := use(a.bytes[from : from+size : from+size])
		if n += some; err != nil {
			return n, err
		}
		a.at = from + (size+7)&^7
	}
	if a.at == len(a.bytes) {
		*a = aside{}
	}
	return n, nil
}

// SetAside makes room in a ring whose records cannot be used yet: it copies them
// into memory, from where the next Drain takes them first. When limit bytes are
// there, what then comes stays in the ring.
func (r *Ring) SetAside(limit int) error {
	if len(r.aside.bytes) >= limit {
		return nil
	}
	_, _, err := r.memory.read(1, func(b []byte) (int, error) {
		r.aside.add(b)
		if len(r.aside.bytes) >= limit {
			return 1, nil
		}
		return 0, nil
	})
	if err != nil {
		return fmt.Errorf("set records aside: %w", err)
	}
	return nil
}
