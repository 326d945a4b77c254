package event

// Fold is the sum of several executions of a construct at one place.
type Fold struct {
	// Number of executions; 0: only tests of a lock that failed.
	Executions uint64 `json:"n,omitempty"`
	Bodies     uint64 `json:"c,omitempty"`  // number of executions that have a body
	Hits       uint64 `json:"h,omitempty"`  // number of probe hits that reported the executions
	Last       uint64 `json:"t1,omitempty"` // end of the last execution (CLOCK_MONOTONIC, ns)
	Enter      uint64 `json:"te,omitempty"` // time from the executions' starts to their bodies, ns
	Body       uint64 `json:"tb,omitempty"` // time in the bodies, ns
	Exit       uint64 `json:"tx,omitempty"` // time from the bodies to the executions' ends, ns

	// Counters are the advances of the thread's counters during the executions. The event's own
	// Counters are their values at the start of the first execution.
	Counters []uint64 `json:"ctr,omitempty"`
}
