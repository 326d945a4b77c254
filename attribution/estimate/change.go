package estimate

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/event"
)

// Change says how the observation of some constructs changes.
type Change string

// The changes.
const (
	Unobserved Change = "away"   // they are not observed from here on
	Observed   Change = "back"   // they are observed again
	Period     Change = "period" // they stay observed, and a new period begins
)

// Switch is one change of what is observed. The set Of is always the same for constructs of one
// class: no construct is in two different sets.
type Switch struct {
	At     uint64           `json:"at"` // CLOCK_MONOTONIC, ns
	Of     event.Constructs `json:"of"`
	Change Change           `json:"change"`
	// CPU is the processor time of each thread until At (ns, by thread id). A thread that is
	// missing here is counted by wall time instead.
	CPU map[uint32]int64 `json:"cpu,omitempty"`
	// Delay is how long each thread has waited for a core until At (ns, by thread id).
	Delay map[uint32]int64 `json:"delay,omitempty"`
}

// Moment is a Switch, with its time on the engine's clock.
type Moment struct {
	Switch
	Unobserved event.Constructs // all constructs that are unobserved from then on
	// How long measurement had been off when the change was accounted for, ns.
	off  int64
	seen reading
}

// since returns the time that was measured between two changes, ns.
func (c *Moment) since(from *Moment) int64 {
	return max(0, ledger.Between(from.At, c.At)-(c.off-from.off))
}
