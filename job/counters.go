package job

import (
	"maps"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// CounterStats is a performance counter's distribution over ranks in a region,
// summed over threads, inclusive.
type CounterStats struct {
	Name string
	Stats
}

// countersOf returns what a rank's counters counted in a region; those that are
// not known of all its executions are left out.
func countersOf(p *profile.Profile, b *analysis.Block) map[string]int64 {
	if b.Sum.Uncounted > 0 || len(b.Sum.Counters) != len(p.Meta.Counters) {
		return nil
	}
	out := map[string]int64{}
	for i, c := range p.Meta.Counters {
		if c.Failed == "" {
			out[c.Name] = b.Sum.Counters[i]
		}
	}
	return out
}

// addCounters adds those of one of the rank's regions that are this region of the
// job.
func (p *part) addCounters(counters map[string]int64) {
	if !p.reached {
		p.counters = counters
		return
	}
	maps.DeleteFunc(p.counters, func(name string, _ int64) bool {
		_, ok := counters[name]
		return !ok
	})
	for name := range p.counters {
		p.counters[name] += counters[name]
	}
}

// Counters returns the counters of the region that are known of every rank that
// reached it, by name.
func (g *Region) Counters() (out []CounterStats) {
	for _, name := range slices.Sorted(maps.Keys(g.counters)) {
		if m := g.counters[name]; m.n == g.Reached {
			out = append(out, CounterStats{name, m.over(g.n, g.absent)})
		}
	}
	return out
}
