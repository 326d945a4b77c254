package bpf

import "fmt"

// Apart is a record ring that only one thread writes to. It is as large as the other rings, so that
// a record costs as much as there. Where its memory is not in a core's caches a record costs more.
type Apart struct {
	*Ring
	of *Probes
}

// SetApart gives the thread tid a record ring of its own. That thread's records are in no other
// ring, and no other thread's records are in this one. HoldFolds does not keep the thread from
// folding, unless counters take turns. Only one thread at a time can have such a ring, and that
// thread must not have hit a probe before.
func (p *Probes) SetApart(tid int) (*Apart, error) {
	r, err := p.mapRing(p.numRings)
	if err != nil {
		return nil, err
	}
	a := &Apart{&Ring{memory: r}, p}
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

// Close gives up the ring. The thread must have ended.
func (a *Apart) Close() error {
	if err := a.set(0); err != nil {
		return err
	}
	return a.Ring.Close()
}
