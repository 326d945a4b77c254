package estimate

import "ompp-attach/attribution/ledger"

const (
	// paceBlock is the time (ns) of a thread over which its pace is judged. A shorter storm of
	// hits takes little of a period, and the end of a period cuts few such blocks.
	paceBlock = 1e6
	// paceGap (ns) bounds the time between two hits that counts: in longer gaps the thread may
	// have had no core.
	paceGap = paceBlock / 2
	// paceShare is the share of a block that probes may take at most. If they take more, the
	// error of their costs is as large as the time that is left for the program itself.
	paceShare = 0.5
)

// Pace follows which share of a thread's time its probes take.
type Pace struct {
	last uint64 // time of the last hit
	time int64  // length of the current block so far, ns
	paid int64  // time that probes took in the current block, ns
}

// Hit adds a hit. When a block ends in which probes took too much, it returns how much they took
// (ns); otherwise 0.
func (p *Pace) Hit(at uint64, cost int64) (dense int64) {
	p.time += min(ledger.Between(p.last, at), paceGap)
	p.last = at
	p.paid += cost
	if p.time < paceBlock {
		return 0
	}
	if float64(p.paid) > paceShare*float64(p.time) {
		dense = p.paid
	}
	p.time, p.paid = 0, 0
	return dense
}
