package budget

import (
	"ompp-attach/event"
)

// Paid is what the hits of one thread have cost, in ns, by group of constructs. The constructs of
// NoGroup are always probed.
type Paid [event.NumGroups]float64

// sum is what the thread has paid for all groups. A nil Paid has paid nothing.
func (p *Paid) sum() (ns float64) {
	if p == nil {
		return 0
	}
	for _, v := range p {
		ns += v
	}
	return ns
}

// Ledger sums up what the hits of each thread cost. It has no lock of its own.
type Ledger struct {
	costs  event.HitCosts
	paid   map[uint32]*Paid // by thread, since the last Turn
	last   *Paid            // of the thread lastID: saves a look-up
	lastID uint32
	turned uint64 // CLOCK_MONOTONIC, ns, of Begin or of the last Turn
	began  uint64 // CLOCK_MONOTONIC, ns, before the first cost; 0: no costs yet
	until  uint64 // CLOCK_MONOTONIC, ns, of the last Turn that found costs
}

// NewLedger returns an empty ledger. costs is what a hit costs.
func NewLedger(costs event.HitCosts) *Ledger {
	return &Ledger{costs: costs, paid: map[uint32]*Paid{}}
}

// Begin sets the time since which hits have costs.
func (l *Ledger) Begin(now uint64) { l.turned = now }

// groupOf gives the group of each element of a set of constructs, for Pay,
// which is called with each event.
var groupOf = func() (of [64]event.Group) {
	for c := range of {
		of[c] = event.GroupOf(event.Construct(c))
	}
	return of
}()

// Pay adds the cost of a hit to the costs of its thread.
func (l *Ledger) Pay(ev *event.Event) {
	if l.last == nil || l.lastID != ev.TID {
		l.last, l.lastID = l.paid[ev.TID], ev.TID
		if l.last == nil {
			l.last = &Paid{}
			l.paid[ev.TID] = l.last
		}
	}
	ns := l.costs.Kinds[ev.Probe%event.NumProbes].Sum()
	if ev.MPI != nil { // an MPI event stands for two hits
		ns += l.costs.Kinds[event.ProbeReturn].Sum()
	}
	_, left := ev.LeftOut.Cost(&l.costs)
	l.last[groupOf[ev.Element()]] += float64(ns)*float64(1+ev.Lost) + float64(left)
}

// Turn returns what each thread has paid since the last call, and begins anew.
func (l *Ledger) Turn(now uint64) map[uint32]*Paid {
	paid := l.paid
	l.paid, l.last = map[uint32]*Paid{}, nil
	if len(paid) > 0 {
		if l.began == 0 {
			l.began = l.turned
		}
		l.until = now
	}
	l.turned = now
	return paid
}

// Measured is the time in ns between the first and the last cost.
func (l *Ledger) Measured() int64 { return int64(l.until - l.began) }
