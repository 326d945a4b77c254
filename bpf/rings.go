package bpf

import (
	"errors"
	"math/bits"

	"github.com/cilium/ebpf"
)

// Sizes of the large parts of record rings in bytes, powers of two. A record takes 80 bytes. So 16
// MiB hold 200,000 records: a tenth of a second of a thread that does nothing but hit probes. A
// large machine has many rings, all of them locked memory, so there is a bound for all large parts
// together.
const (
	maxRingBytes = 16 << 20
	minRingBytes = 2 << 20
	allRingBytes = 256 << 20
)

// ringBytes returns the size of the large part of each of a number of rings.
func ringBytes(rings int) uint32 {
	n := maxRingBytes
	for n > minRingBytes && n*rings > allRingBytes {
		n /= 2
	}
	return uint32(n)
}

// pieceBytes is PIECE of ring.h, the size of a ring's small part.
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

// ringsFor returns how many rings a machine gets: the next power of two of its processors, but not
// more than most, a power of two. So finding a thread's ring takes no division.
func ringsFor(processors, most int) int { return min(1<<bits.Len(uint(processors-1)), most) }

// shapeRings gives the object of programs the shape of the rings: n rings, a power of two, and one
// more for the thread that calibrates.
func shapeRings(spec *ebpf.CollectionSpec, n int) error {
	pieces := ringBytes(n) / pieceBytes
	spec.Maps[probeMapPieces].MaxEntries = uint32(n+1) * (1 + pieces)
	return errors.Join(
		spec.Variables[probeVarNumRings].Set(uint32(n)),
		spec.Variables[probeVarRingBits].Set(uint32(bits.TrailingZeros(uint(n)))),
		spec.Variables[probeVarRingPieces].Set(pieces),
	)
}

// shareRings lets the programs of another object write to the rings of p.
func (p *Probes) shareRings(spec *ebpf.CollectionSpec, with map[string]*ebpf.Map) error {
	for _, name := range []string{probeMapRings, probeMapPieces, probeMapWakes} {
		with[name] = p.coll.Maps[name]
	}
	return shapeRings(spec, p.numRings)
}
