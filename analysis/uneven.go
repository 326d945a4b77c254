package analysis

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Uneven says why threads waited at the end of a loop or of a parallel region, if this is known.
type Uneven uint8

const (
	// Starved: the loop left a thread of its team without work. Mostly, the loop has fewer
	// iterations than threads then, or one iteration with nearly all of the work. But a thread's
	// chunk may have all of the work, too. The number of iterations itself is not recorded.
	Starved Uneven = iota + 1
	// Late: some threads began the region later than others, and this makes up most of the waits.
	Late
)

// WhyUneven tells, by region, why threads waited at the end of a loop or a parallel region; 0: by
// uneven work, or it is not known. In a loop that left a thread without work, the loop's body took
// the thread less than a hundredth of what it took the busiest thread.
func WhyUneven(p *profile.Profile) []Uneven {
	out := make([]Uneven, len(p.Regions))
	for region, b := range Flat(p) {
		c := p.Regions[region].Construct
		switch {
		case (c == event.Loop || c == event.ParallelLoop) && starved(b.Rows):
			out[region] = Starved
		case (c == event.Parallel || c == event.ParallelLoop) && late(b.Rows):
			out[region] = Late
		}
	}
	return out
}

func starved(rows []ThreadFigures) bool {
	const little = 0.01
	least, most := int64(-1), int64(0)
	for i := range rows {
		t := rows[i].Body.T
		if most = max(most, t); least < 0 || t < least {
			least = t
		}
	}
	return len(rows) > 1 && float64(least) < little*float64(most)
}

// late tells whether the threads that wait at the region's end began earlier than the last one to
// begin, by more than half of their waits.
func late(rows []ThreadFigures) bool {
	var last, waits, earlier int64
	for i := range rows {
		last = max(last, rows[i].Enter.T)
	}
	for i := range rows {
		wait := max(0, rows[i].Barrier.T-rows[i].Task)
		waits += wait
		earlier += min(wait, last-rows[i].Enter.T)
	}
	return 2*earlier > waits
}
