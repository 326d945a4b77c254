package ledger

import "ompp-attach/event"

// Ledger is what the accounts of a process share.
type Ledger struct {
	width int      // numbers that an event has of its thread's counters; 0: no counters so far
	free  []*tally `copy:"-"`
	hits  [event.NumProbes]uint64
	costs event.HitCosts
}
