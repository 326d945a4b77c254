package bpf

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cilium/ebpf"
)

// Sizes of the record rings in bytes, powers of two. A record takes 72 bytes. So 16 MiB hold 80 ms
// of two threads that only enter and leave criticals. A large machine has many rings, all of them
// locked memory, so there is a bound for all together.
const (
	maxRingBytes = 16 << 20
	minRingBytes = 2 << 20
	allRingBytes = 256 << 20
)

// ringBytes returns the size of each of a number of rings.
func ringBytes(rings int) uint32 {
	n := maxRingBytes
	for n > minRingBytes && n*rings > allRingBytes {
		n /= 2
	}
	return uint32(n)
}

// Waiter returns a Waiter for the record rings. It waits until one of them has received WAKE_BYTES
// (ring.h).
func (p *Probes) Waiter() (*Waiter, error) { return newWaiter(p.rings...) }

// makeRings makes rings and stores them in a map. It stores all at the same time, because each
// change of such a map waits until no running program can use the old entry (synchronize_rcu).
func makeRings(in *ebpf.Map, sizes []uint32) ([]*ebpf.Map, error) {
	rings, errs := make([]*ebpf.Map, len(sizes)), make([]error, len(sizes))
	var wg sync.WaitGroup
	for i, size := range sizes {
		wg.Go(func() {
			var err error
			if rings[i], err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: size}); err != nil {
				errs[i] = fmt.Errorf("create a record ring of %d KiB: %w", size>>10, err)
				return
			}
			errs[i] = in.Put(uint32(i), rings[i])
		})
	}
	wg.Wait()
	return rings, errors.Join(errs...)
}

func (p *Probes) closeRings() {
	for _, r := range append(p.rings, p.apart) {
		r.Close() // Close takes nil
	}
}
