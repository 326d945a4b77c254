package bpf

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// entryHead is the size of what stands before a record in its ring (struct entry in ring.h).
const entryHead = 8

// giveBack is how many bytes are read before the kernel side is told that they are free. Telling it
// takes the cache line of that position away from the processors that write to the ring.
const giveBack = 64 << 10

// recordRing is a ring of records, in memory that the kernel side writes (struct ring in ring.h).
type recordRing struct {
	head   *probeRing
	pieces [][]byte // each with the tail behind it
	at     uint64
	pages  [2][]byte
}

// mapRing maps the ring of a number.
func (p *Probes) mapRing(number int) (*recordRing, error) {
	const piece = int(unsafe.Sizeof(probePiece{}))
	m := p.coll.Maps[probeMapRings]
	heads, err := unix.Mmap(m.FD(), 0, int(m.MaxEntries()*m.ValueSize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the heads of rings: %w", err)
	}
	n := p.ringPieces
	all, err := unix.Mmap(p.coll.Maps[probeMapPieces].FD(), int64(number*n*piece), n*piece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Munmap(heads)
		return nil, fmt.Errorf("map a ring: %w", err)
	}
	r := &recordRing{pages: [2][]byte{heads, all}}
	r.head = &unsafe.Slice((*probeRing)(unsafe.Pointer(&heads[0])), number+1)[number]
	for at := range n {
		r.pieces = append(r.pieces, all[at*piece:(at+1)*piece])
	}
	return r, nil
}

// read hands over the entries that are there, limit at most, and returns how many. blocked says
// that read met an entry that is still being written. Entries are valid during the call only.
func (r *recordRing) read(limit int, use func([]byte) error) (n int, blocked bool, err error) {
	r.at = atomic.LoadUint64(&r.head.Read) // another reader may have moved it
	end, given := atomic.LoadUint64(&r.head.Written), r.at
	for n < limit && r.at != end {
		piece := r.pieces[r.at/pieceBytes%uint64(len(r.pieces))]
		at := r.at % pieceBytes
		size := uint64(atomic.LoadUint32((*uint32)(unsafe.Pointer(&piece[at]))))
		if size == 0 {
			blocked = true
			break
		}
		whole := (entryHead + size + 7) &^ 7
		if at+whole > uint64(len(piece)) {
			return n, false, fmt.Errorf("%w: an entry of %d bytes", ErrShortRecord, size)
		}
		if err = use(piece[at+entryHead : at+entryHead+size : at+entryHead+size]); err != nil {
			break
		}
		n++
		// Where an entry will begin, the size must be 0 until the entry is written.
		clear(piece[at : at+whole])
		r.at += whole
		if r.at-given >= giveBack {
			given = r.at
			atomic.StoreUint64(&r.head.Read, given)
		}
	}
	if given != r.at {
		atomic.StoreUint64(&r.head.Read, r.at)
	}
	return n, blocked, err
}

func (r *recordRing) close() error { return unmapRing(r.pages) }

// unmapRing unmaps the two parts of a ring.
func unmapRing(parts [2][]byte) error {
	for _, p := range parts {
		if err := unix.Munmap(p); err != nil {
			return fmt.Errorf("unmap a ring: %w", err)
		}
	}
	return nil
}
