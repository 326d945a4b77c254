package bpf

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Heads of entries (include/uapi/linux/bpf.h).
const (
	entryBusy    = 1 << 31 // BPF_RINGBUF_BUSY_BIT: being written
	entryDiscard = 1 << 30 // BPF_RINGBUF_DISCARD_BIT
	kernelHead   = 8       // BPF_RINGBUF_HDR_SZ
)

// kernelRing is a ring of the kernel's (BPF_MAP_TYPE_RINGBUF), mapped into memory. The ebpf
// library's reader is slower: for each entry it copies the entry, takes a lock, and gives memory
// back. It also spins until an entry is written, while the writer may wait for this very processor.
type kernelRing struct {
	consumer, producer *uint64
	data               []byte // mapped twice in a row, so that each entry is in one piece
	mask, at           uint64
	pages              [][]byte
}

func mapKernelRing(m *ebpf.Map) (*kernelRing, error) {
	size, page := int(m.MaxEntries()), os.Getpagesize()
	consumer, err := unix.Mmap(m.FD(), 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map a ring: %w", err)
	}
	rest, err := unix.Mmap(m.FD(), int64(page), page+2*size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Munmap(consumer)
		return nil, fmt.Errorf("map a ring: %w", err)
	}
	r := &kernelRing{data: rest[page:], mask: uint64(size) - 1, pages: [][]byte{consumer, rest}}
	r.consumer, r.producer = (*uint64)(unsafe.Pointer(&consumer[0])), (*uint64)(unsafe.Pointer(&rest[0]))
	return r, nil
}

// read hands over the entries that are there, limit at most, and returns how many. blocked says
// that read met an entry that is still being written. Entries are valid during the call only.
func (r *kernelRing) read(limit int, use func([]byte) error) (n int, blocked bool, err error) {
	r.at = atomic.LoadUint64(r.consumer) // another reader may have moved it
	end, from := atomic.LoadUint64(r.producer), r.at
	for n < limit && r.at != end {
		at := r.at & r.mask
		// The kernel clears the bit when all else is written (bpf_ringbuf_commit).
		head := atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.data[at])))
		if head&entryBusy != 0 {
			blocked = true
			break
		}
		size := uint64(head &^ entryDiscard)
		if size > r.mask {
			return n, false, fmt.Errorf("%w: an entry of %d bytes", ErrShortRecord, size)
		}
		if head&entryDiscard == 0 {
			at += kernelHead
			if err = use(r.data[at : at+size : at+size]); err != nil {
				break
			}
			n++
		}
		r.at += (kernelHead + size + 7) &^ 7
	}
	if from != r.at {
		atomic.StoreUint64(r.consumer, r.at)
	}
	return n, blocked, err
}

func (r *kernelRing) close() error { return unmapRing(r.pages) }
