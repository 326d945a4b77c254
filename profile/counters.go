package profile

// Counter is a performance counter that was read at the start and the end of each region.
type Counter struct {
	Name string `json:"name"`           // as the user asked for it
	Unit string `json:"unit,omitempty"` // unit of the counts; empty: events
	// Share of the time in which it counted, by which its counts are scaled; 0: all of the
	// time.
	Running float64 `json:"running,omitempty"`
	Failed  string  `json:"failed,omitempty"` // why it has no counts, as a sentence
}

// SumCounters returns the sums of two lists of counters, either of which may be nil. It changes
// neither of them: profiles that were derived from one another share them.
func SumCounters(a, b []int64) []int64 {
	if len(a) == 0 || len(b) == 0 {
		if len(a) == 0 {
			return b
		}
		return a
	}
	sum := make([]int64, max(len(a), len(b)))
	copy(sum, a)
	for i, v := range b {
		sum[i] += v
	}
	return sum
}

// Counts are the counters of one execution, in the order in which events carry them.
type Counts struct {
	All   []int64 // regions entered from it included; empty: all are 0
	Child []int64 // in the regions entered from it; empty: all are 0
	// Partial: the counters are known for a part of the execution only.
	Partial bool
}
