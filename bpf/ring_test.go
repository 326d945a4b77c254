package bpf

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"testing"
	"time"
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

// partOf returns a part of a ring, of a number of pieces in ordinary memory.
func partOf(pieces int) *part {
	p := &part{written: new(uint64), read: new(uint64)}
	for range pieces {
		p.pieces = append(p.pieces, make([]byte, unsafe.Sizeof(probePiece{})))
	}
	return p
}

// readAll is readTo the end.
func (p *part) readAll(limit int, use func([]byte) error) (n int, blocked bool, err error) {
	return p.readTo(*p.written, limit, use)
}

// write does what the kernel side does to write an entry.
func (p *part) write(entry []byte) {
	at := *p.written
	*p.written += uint64(entryHead+len(entry)+7) &^ 7
	to := p.pieces[at/pieceBytes%uint64(len(p.pieces))][at%pieceBytes:]
	copy(to[entryHead:], entry)
	binary.NativeEndian.PutUint32(to, uint32(len(entry)))
}

// Entries keep their order and contents over the ends of pieces and of the ring. The memory of
// entries that were read is cleared: a later entry there is not taken for written before it is.
func TestRingGoesRound(t *testing.T) {
	r := partOf(2)
	entry := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 1+3111*(i%10)) }
	next, wrong := 0, 0
	for round := range 200 {
		for i := range 10 {
			r.write(entry(10*round + i))
		}
		n, blocked, err := r.readAll(100, func(b []byte) error {
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
	r := partOf(1)
	r.write([]byte("one"))
	late := *r.written
	r.write([]byte("two"))
	r.write([]byte("three"))
	size := r.pieces[0][late:][:4]
	size[0] = 0
	var got []string
	read := func() bool {
		t.Helper()
		_, blocked, err := r.readAll(10, func(b []byte) error {
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

// Entries of the large part follow when all older ones of the small part were handed over. Some are
// written while the others are read.
func TestSmallPartComesFirst(t *testing.T) {
	r := &recordRing{small: *partOf(1), large: *partOf(2)}
	var got []string
	third := r.small.pieces[0][2*16:][:4] // its size
	read := func(limit, want int, wantBlocked bool) {
		t.Helper()
		n, blocked, err := r.read(limit, func(b []byte) error {
			if got = append(got, string(b)); len(got) == 1 {
				r.small.write([]byte("3"))
				third[0] = 0 // it is being written
				r.large.write([]byte("4"))
			}
			return nil
		})
		if n != want || blocked != wantBlocked || err != nil {
			t.Errorf("%d entries, blocked %v, %v; want %d, %v: %q", n, blocked, err, want, wantBlocked, got)
		}
	}
	r.small.write([]byte("1"))
	r.small.write([]byte("2"))
	read(9, 2, true)
	read(9, 0, true)
	third[0] = 1
	read(1, 1, false)
	r.large.write([]byte("5"))
	read(1, 1, false)
	read(9, 1, false)
	if !slices.Equal(got, []string{"1", "2", "3", "4", "5"}) {
		t.Errorf("%q", got)
	}
}

// unread is how many bytes of a part were claimed and not read.
func unread(p *part) uint64 { return atomic.LoadUint64(p.written) - atomic.LoadUint64(p.read) }

// hit writes an entry as the kernel side does: to the large part if the reader is late.
func (r *recordRing) hit(entry []byte) {
	to := &r.small
	if unread(&r.large) > 0 || unread(to)+uint64(len(entry)+entryHead) > pieceBytes {
		to = &r.large
	}
	to.write(entry)
}

// When a late reader has caught up, the small part is used again, although the threads write on
// while the reader reads.
func TestSmallPartIsUsedAgain(t *testing.T) {
	const limit = 256
	r := &recordRing{small: *partOf(1), large: *partOf(2)}
	entry := make([]byte, 72)
	entry[0] = 1
	for unread(&r.large) < pieceBytes/2 {
		r.hit(entry)
	}
	handed := 0
	for n := limit; n > limit/2; { // as the reader in package collect
		var err error
		n, _, err = r.read(limit, func([]byte) error {
			if handed++; handed%4 == 0 {
				r.hit(entry)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := unread(&r.large); n > 0 {
		t.Errorf("%d bytes of the large part are not read", n)
	}
}

// Every record arrives, in its thread's order, while threads go from one part of their ring to the
// other and back, as the reader is late or not.
func TestOrderOverBothParts(t *testing.T) {
	const threads, chunk, rounds = 8, 1 << 11, 300
	p, rings, row := drivenProbes(t)
	d := startDrivers(p, threads)
	defer d.end()
	late := func(bytes uint64) bool {
		return slices.ContainsFunc(rings, func(r *Ring) bool { return unread(&r.memory.large) > bytes })
	}
	hits := series{steps: []step{{row: row}, {row: row, ret: true}}, count: chunk}
	driven := make(chan error, 1)
	go func() {
		defer close(driven)
		for round := range rounds {
			most := uint64(ringBytes(len(rings))) / 2 // nothing may be lost
			if round%20 == 0 {
				most = 0 // also a slow reader has to catch up
			}
			for late(most) {
				time.Sleep(time.Millisecond)
			}
			if err := d.drive(threads, hits); err != nil {
				driven <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	of := map[uint32]*seen{}
	wasLate, caughtUp := false, 0
	for running := true; running; {
		select {
		case err := <-driven:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		if isLate := late(0); isLate || !running {
			wasLate = true
			for _, r := range rings {
				drain(t, r, 256, of)
			}
		} else if wasLate {
			wasLate = false
			caughtUp++
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	readAll(t, rings, of)
	for tid, s := range of {
		if s.disordered || s.lost > 0 || s.entries+s.returns != chunk*rounds {
			t.Errorf("thread %d: %d of %d records, %d lost, disordered %v", tid, s.entries+s.returns, chunk*rounds, s.lost, s.disordered)
		}
	}
	if len(of) != threads || caughtUp < 5 {
		t.Errorf("records of %d threads of %d; the reader caught up %d times", len(of), threads, caughtUp)
	}
}

// Whatever is in a ring, reading ends, and hands over nothing from outside of the ring.
func FuzzRing(f *testing.F) {
	f.Add([]byte{8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, uint64(16), uint64(0))
	f.Add([]byte{255, 255, 255, 255}, uint64(64), uint64(0))
	f.Add([]byte{1, 0, 0, 0}, uint64(1<<40), uint64(1<<40-8))
	r := partOf(1)
	f.Fuzz(func(t *testing.T, memory []byte, written, read uint64) {
		clear(r.pieces[0])
		copy(r.pieces[0], memory)
		*r.written, *r.read = written&^7, read&^7
		n, _, err := r.readAll(100, func([]byte) error { return nil })
		if n == 100 && err != nil || n > len(memory)/entryHead+1 {
			t.Errorf("%d entries of %d bytes, %v", n, len(memory), err)
		}
	})
}
