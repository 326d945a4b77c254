package bpf

import (
	"errors"

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

// pieceBytes is PIECE of ring.h.
const pieceBytes = 1 << 20

// Waiter returns a Waiter for the record rings. It waits until one of them has received WAKE_BYTES
// (ring.h).
func (p *Probes) Waiter() (*Waiter, error) {
	m := p.coll.Maps[probeMapWakes]
	wakes, err := mapKernelRing(m)
	if err != nil {
		return nil, err
	}
	w, err := newWaiter(m)
	if err != nil {
		_ = wakes.close()
		return nil, err
	}
	w.wakes = wakes
	return w, nil
}

// shapeRings gives the object of programs the shape of the rings: n rings, and one more for the
// thread that calibrates.
func shapeRings(spec *ebpf.CollectionSpec, n int) error {
	pieces := ringBytes(n) / pieceBytes
	spec.Maps[probeMapPieces].MaxEntries = uint32(n+1) * pieces
	return errors.Join(spec.Variables[probeVarNumRings].Set(uint32(n)), spec.Variables[probeVarRingPieces].Set(pieces))
}

// shareRings lets the programs of another object write to the rings of p.
func (p *Probes) shareRings(spec *ebpf.CollectionSpec, with map[string]*ebpf.Map) error {
	for _, name := range []string{probeMapRings, probeMapPieces, probeMapWakes} {
		with[name] = p.coll.Maps[name]
	}
	return shapeRings(spec, p.numRings)
}
