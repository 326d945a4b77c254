package bpf

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
	"unsafe"
)

// A reader that maps the rings after another reader does not get that reader's records again.
func TestReadersTakeTurns(t *testing.T) {
	p, rings, row := drivenProbes(t)
	d := startDrivers(p, 1)
	defer d.end()
	first, err := p.Rings()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, r := range first {
			r.Close()
		}
	}()
	for _, reader := range [][]*Ring{first, rings, first} {
		if err := d.drive(1, series{steps: []step{{row: row}}, count: 100}); err != nil {
			t.Fatal(err)
		}
		if n := readAll(t, reader, map[uint32]*seen{}); n != 100 {
			t.Errorf("%d records of 100", n)
		}
	}
}

// ringOf returns a ring of pieces in ordinary memory.
func ringOf(pieces int) *recordRing {
	r := &recordRing{head: &probeRing{}}
	for range pieces {
		r.pieces = append(r.pieces, make([]byte, unsafe.Sizeof(probePiece{})))
	}
	return r
}

// write does what the kernel side does to write an entry.
func (r *recordRing) write(entry []byte) {
	at := r.head.Written
	r.head.Written += uint64(entryHead+len(entry)+7) &^ 7
	to := r.pieces[at/pieceBytes%uint64(len(r.pieces))][at%pieceBytes:]
	copy(to[entryHead:], entry)
	binary.NativeEndian.PutUint32(to, uint32(len(entry)))
}

// Entries keep their order and contents over the ends of pieces and of the ring. The memory of
// entries that were read is cleared: a later entry there is not taken for written before it is.
func TestRingGoesRound(t *testing.T) {
	r := ringOf(2)
	entry := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 1+3111*(i%10)) }
	next, wrong := 0, 0
	for round := range 200 {
		for i := range 10 {
			r.write(entry(10*round + i))
		}
		n, blocked, err := r.read(100, func(b []byte) error {
			if !bytes.Equal(b, entry(next)) {
				wrong++
			}
			next++
			return nil
		})
		if n != 10 || blocked || err != nil {
			t.Fatalf("round %d: %d entries, blocked %v, %v", round, n, blocked, err)
		}
	}
	if wrong > 0 {
		t.Errorf("%d entries are not what was written", wrong)
	}
	for i, p := range r.pieces {
		if at := slices.IndexFunc(p, func(b byte) bool { return b != 0 }); at >= 0 {
			t.Errorf("piece %d is not clear at %d", i, at)
		}
	}
}

// An entry that is being written ends the reading, until it is written.
func TestReadingWaitsForEntries(t *testing.T) {
	r := ringOf(1)
	r.write([]byte("one"))
	late := r.head.Written
	r.write([]byte("two"))
	r.write([]byte("three"))
	size := r.pieces[0][late:][:4]
	size[0] = 0
	var got []string
	read := func() bool {
		t.Helper()
		_, blocked, err := r.read(10, func(b []byte) error {
			got = append(got, string(b))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return blocked
	}
	if !read() || !slices.Equal(got, []string{"one"}) {
		t.Errorf("%q before the second entry is written", got)
	}
	size[0] = 3
	if read() || !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("%q", got)
	}
}

// Whatever is in a ring, reading ends, and hands over nothing from outside of the ring.
func FuzzRing(f *testing.F) {
	f.Add([]byte{8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, uint64(16), uint64(0))
	f.Add([]byte{255, 255, 255, 255}, uint64(64), uint64(0))
	f.Add([]byte{1, 0, 0, 0}, uint64(1<<40), uint64(1<<40-8))
	r := ringOf(1)
	f.Fuzz(func(t *testing.T, memory []byte, written, read uint64) {
		clear(r.pieces[0])
		copy(r.pieces[0], memory)
		r.head.Written, r.head.Read = written&^7, read&^7
		n, _, err := r.read(100, func([]byte) error { return nil })
		if n == 100 && err != nil || n > len(memory)/entryHead+1 {
			t.Errorf("%d entries of %d bytes, %v", n, len(memory), err)
		}
	})
}
