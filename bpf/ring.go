package bpf

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// entryHead is the size of what stands before a record in its ring (struct entry in ring.h).
const entryHead = 8

// giveBack is how many bytes are read before the kernel side is told that they are free. Telling it
// takes the cache line of that position away from the processors that write to the ring.
const giveBack = 64 << 10

// recordRing is a ring of records, in memory that the kernel side writes (struct ring in ring.h).
type recordRing struct {
	small, large part
	pages        [][]byte
}

// part is one of the two parts of a ring.
type part struct {
	written, read *uint64  // positions
	pieces        [][]byte // each with the tail behind it
	at            uint64
}

// mapRing maps the ring of a number.
func (p *Probes) mapRing(number int) (*recordRing, error) {
	r := &recordRing{}
	m := p.coll.Maps[probeMapRings]
	heads, err := r.mapPages(m, 0, int(m.MaxEntries()*m.ValueSize()))
	if err != nil {
		return nil, err
	}
	head := &unsafe.Slice((*probeRing)(unsafe.Pointer(&heads[0])), number+1)[number]
	r.small = part{written: &head.Written, read: &head.Read}
	r.large = part{written: &head.LargeWritten, read: &head.LargeRead}
	rings := p.numRings + 1
	if r.small.pieces, err = p.mapPieces(r, number, 1); err == nil {
		r.large.pieces, err = p.mapPieces(r, rings+number*p.ringPieces, p.ringPieces)
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// mapPieces maps n pieces of the rings' memory for r.
func (p *Probes) mapPieces(r *recordRing, first, n int) (pieces [][]byte, err error) {
	const size = int(unsafe.Sizeof(probePiece{}))
	all, err := r.mapPages(p.coll.Maps[probeMapPieces], int64(first*size), n*size)
	for at := 0; at < len(all); at += size {
		pieces = append(pieces, all[at:at+size])
	}
	return pieces, err
}

// mapPages maps memory of a map until close.
func (r *recordRing) mapPages(m *ebpf.Map, from int64, size int) ([]byte, error) {
	b, err := unix.Mmap(m.FD(), from, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map a ring: %w", err)
	}
	r.pages = append(r.pages, b)
	return b, nil
}

// read hands over the entries that are there, limit at most, and returns how many. blocked says
// that read met an entry that is still being written. Entries are valid during the call only.
//
// Of the entries of one thread, those in the large part that are not read yet are newer than those
// in the small part (ring.h). So the end of the large part is read first, then the end of the small
// part: before the latter lies whatever a thread wrote before its entries in the large part. These
// follow only when all of the small part up to there was handed over.
//
// Threads use the small part again when the large part is empty for a moment. That never comes
// about if entries that were written meanwhile are left for the next call. So read goes on until
// nothing more is there.
func (r *recordRing) read(limit int, use func([]byte) error) (n int, blocked bool, err error) {
	for more := 1; n < limit && more > 0 && !blocked && err == nil; n += more {
		more, blocked, err = r.readOnce(limit-n, use)
	}
	return n, blocked, err
}

// readOnce is read for the entries that are there at the beginning.
func (r *recordRing) readOnce(limit int, use func([]byte) error) (n int, blocked bool, err error) {
	largeEnd := atomic.LoadUint64(r.large.written)
	smallEnd := atomic.LoadUint64(r.small.written)
	n, blocked, err = r.small.readTo(smallEnd, limit, use)
	if err != nil || int64(smallEnd-r.small.at) > 0 {
		return n, blocked, err
	}
	more, blocked, err := r.large.readTo(largeEnd, limit-n, use)
	return n + more, blocked, err
}

// readTo is recordRing.read for the entries of one part up to the position end.
func (p *part) readTo(end uint64, limit int, use func([]byte) error) (n int, blocked bool, err error) {
	p.at = atomic.LoadUint64(p.read) // another reader may have moved it
	given := p.at
	for n < limit && int64(end-p.at) > 0 {
		piece := p.pieces[p.at/pieceBytes%uint64(len(p.pieces))]
		at := p.at % pieceBytes
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
		p.at += whole
		if p.at-given >= giveBack {
			given = p.at
			atomic.StoreUint64(p.read, given)
		}
	}
	if given != p.at {
		atomic.StoreUint64(p.read, p.at)
	}
	return n, blocked, err
}

func (r *recordRing) close() error { return unmapRing(r.pages) }

// unmapRing unmaps the memory of a ring.
func unmapRing(pages [][]byte) error {
	for _, p := range pages {
		if err := unix.Munmap(p); err != nil {
			return fmt.Errorf("unmap a ring: %w", err)
		}
	}
	return nil
}
