package analysis

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Starving tells, by region, whether a loop left a thread of its team without work: the loop's
// body took a thread less than a hundredth of what it took the busiest thread. Mostly, the loop has
// fewer iterations than threads then, or one iteration with nearly all of the work. But a thread's
// chunk may have all of the work, too. The number of iterations itself is not recorded.
func Starving(p *profile.Profile) []bool {
	const little = 0.01
	out := make([]bool, len(p.Regions))
	for region, b := range Flat(p) {
		if c := p.Regions[region].Construct; c != event.Loop && c != event.ParallelLoop {
			continue
		}
		least, most := int64(-1), int64(0)
		for i := range b.Rows {
			t := b.Rows[i].Body.T
			if most = max(most, t); least < 0 || t < least {
				least = t
			}
		}
		out[region] = len(b.Rows) > 1 && float64(least) < little*float64(most)
	}
	return out
}
