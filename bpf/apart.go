package bpf

import "fmt"

// apartBytes is the size of the ring of the thread that calibrates, a power of
// two: some hundreds of its records wait in it, each with counters 216 bytes.
const apartBytes = 256 << 10

// Apart is a record ring that one thread has for itself.
type Apart struct {
	*Ring
	of *Probes
}

// SetApart gives a thread a record ring of its own: its records are in no other,
// and nobody else's are in that one. HoldFolds does not hold it. One thread at a
// time can have it, and must have been in none of the probes yet.
func (p *Probes) SetApart(tid int) (*Apart, error) {
	r, err := mapRing(p.apart)
	if err != nil {
		return nil, err
	}
	a := &Apart{&Ring{memory: r, stride: p.stride()}, p}
	if err := a.set(tid); err != nil {
		a.Ring.Close()
		return nil, err
	}
	return a, nil
}

func (a *Apart) set(tid int) error {
	if err := a.of.coll.Variables[probeVarCalibrating].Set(uint32(tid)); err != nil {
		return fmt.Errorf("give a thread a ring of its own: %w", err)
	}
	return nil
}

// Close ends that; the thread must have ended.
func (a *Apart) Close() error {
	if err := a.set(0); err != nil {
		return err
	}
	return a.Ring.Close()
}
