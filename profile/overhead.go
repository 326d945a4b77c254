package profile

import "math"

// Overhead is the cost of the measurement for the process: the probe hits, and the time that a hit
// of each kind takes on this machine.
type Overhead struct {
	Mode string `json:"mode,omitempty"` // how the probes were attached
	// Why the time that hits take is not known, as a sentence.
	Failed string      `json:"failed,omitempty"`
	Probes []ProbeHits `json:"probes,omitempty"`
	// The costs of hits are those of one thread. While so many threads hit probes at once, a hit
	// takes so many times as long. 0: as long, or it is not known.
	Threads int     `json:"threads,omitempty"`
	Times   float64 `json:"times,omitempty"`
	// AtMost is a factor: all hits together took at most AtMost times what the costs above say,
	// because the process had no more processor time (MostInHits). 0: that is not known.
	AtMost float64 `json:"at_most,omitempty"`
}

// Bound notes how long the hits can have taken at most, ns. math.MaxInt64: that is not known.
func (o *Overhead) Bound(most int64) {
	if total := o.Total(); total > 0 && most < math.MaxInt64 {
		o.AtMost = float64(most) / float64(total)
	}
}

// MostInHits returns how long hits can have taken of a process at most, by its processor time. All
// times are in ns. /proc tells user and system time in whole ticks of 10 ms, so each may be up to a
// tick short.
func MostInHits(processor int64) int64 {
	const tick = 10e6 // USER_HZ, not CONFIG_HZ
	return processor + 2*tick
}

// Total returns the time that all hits took of their threads, in ns.
func (o *Overhead) Total() (ns int64) {
	for _, h := range o.Probes {
		ns += int64(h.Hits) * (h.Before + h.After)
	}
	return ns
}

// ProbeHits are the reported hits of one kind of probe.
type ProbeHits struct {
	// Kind of instruction under the probe: "nop5", "jump", "emulated", "call", "single-stepped",
	// "return".
	Probe string `json:"probe"`
	Reads int    `json:"reads,omitempty"` // number of reads of the thread's memory at each hit
	// Kept is true in older recordings only: the hit's record waited with its thread for others.
	Kept   bool   `json:"kept,omitempty"`
	Hits   uint64 `json:"hits"`
	Before int64  `json:"before,omitempty"` // time that a hit took before its time stamp, ns
	After  int64  `json:"after,omitempty"`  // time that a hit took after its time stamp, ns
}
