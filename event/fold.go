package event

// Fold is what several executions of a construct at one place add up to.
type Fold struct {
	Executions uint64 `json:"n,omitempty"`  // 0: none, locks that were tested in vain
	Bodies     uint64 `json:"c,omitempty"`  // of them, those that have a body
	Hits       uint64 `json:"h,omitempty"`  // probe hits that told of them
	Last       uint64 `json:"t1,omitempty"` // when the last of them ended (CLOCK_MONOTONIC, ns)
	Enter      uint64 `json:"te,omitempty"` // from their starts to their bodies, ns
	Body       uint64 `json:"tb,omitempty"` // in their bodies, ns
	Exit       uint64 `json:"tx,omitempty"` // from their bodies to their ends, ns

	// Counters are what they counted, each. The event's own are the thread's when
	// the first of them began.
	Counters []uint64 `json:"ctr,omitempty"`
}
