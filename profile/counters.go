package profile

// Counter is a performance counter that was read at the beginning and end of
// each region.
type Counter struct {
	Name    string  `json:"name"`              // as the user asked for it
	Unit    string  `json:"unit,omitempty"`    // of the counts; empty: they count events
	Running float64 `json:"running,omitempty"` // share of the time in which it counted, its counts are scaled by it; 0: it always did
	Failed  string  `json:"failed,omitempty"`  // why it has no counts, a sentence
}

// SumCounters adds two threads' or places' counters, of which nil are none. It
// changes neither: profiles that were derived from one another share them.
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
