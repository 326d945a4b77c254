package analysis

import (
	"slices"

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
// the thread less than a hundredth of what it took the busiest thread under the same initial
// thread.
func WhyUneven(p *profile.Profile) []Uneven {
	out := make([]Uneven, len(p.Regions))
	for region, b := range Flat(p) {
		c := p.Regions[region].Construct
		switch {
		case (c == event.Loop || c == event.ParallelLoop) && starved(p.Threads, b.Rows):
			out[region] = Starved
		case (c == event.Parallel || c == event.ParallelLoop) && late(p.Threads, b.Rows):
			out[region] = Late
		}
	}
	return out
}

// starved tells whether a loop left a thread nearly without work, compared with the busiest thread
// under the same initial thread.
func starved(threads []profile.Thread, rows []ThreadFigures) bool {
	const little = 0.01
	most := map[int]int64{} // by initial thread: each has teams of its own
	for i := range rows {
		root := threads[rows[i].Thread].Root
		most[root] = max(most[root], rows[i].Body.T)
	}
	return slices.ContainsFunc(rows, func(r ThreadFigures) bool {
		return float64(r.Body.T) < little*float64(most[threads[r.Thread].Root])
	})
}

// late tells whether late threads make up more than half of the waits at the region's end. A
// thread's wait for them is at most the time by which it began before the last thread of its teams.
func late(threads []profile.Thread, rows []ThreadFigures) bool {
	last := map[int]int64{} // by initial thread: each has teams of its own
	for i := range rows {
		root := threads[rows[i].Thread].Root
		last[root] = max(last[root], rows[i].Enter.T)
	}
	var waits, earlier int64
	for i := range rows {
		wait := max(0, rows[i].Barrier.T-rows[i].Task)
		waits += wait
		earlier += min(wait, last[threads[rows[i].Thread].Root]-rows[i].Enter.T)
	}
	return 2*earlier > waits
}
