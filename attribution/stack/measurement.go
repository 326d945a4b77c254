package stack

import (
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Measurement says what is measured, and when.
type Measurement struct {
	Pid   uint32
	Older map[uint32]bool // threads older than the measurement
	// When measurement of existing threads began, or went on after a pause; 0: there are none.
	Began     uint64
	From      uint64           // when the process's measured time began, if it was told
	Started   uint64           // time of the first event; 0: there was none
	Switching bool             // there were changes of what is observed, or there may be some
	Gone      event.Constructs // constructs that were unobserved at some time
	// Kinds of levels of which calls may have been left out (user.isInner).
	Unsure       event.Constructs
	NoCoreBefore map[uint32]int64 // without a core before the measurement, ns, by thread id

	OffSince uint64  // when measurement was switched off; 0: it is on
	OffBy    *Thread // the thread whose marker switched it off
	OffTime  profile.Sum
}

// Missing counts what was seen in part, or not at all.
type Missing struct {
	Unmatched uint64 // events that belong to no open region
	Partial   uint64 // executions that were seen in part
	Losses    map[tree.Seat]uint64
}
