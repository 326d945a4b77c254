package job

import (
	"maps"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/job/spread"
	"ompp-attach/profile"
)

// CounterStats is the distribution of a performance counter over ranks in a region, summed over
// threads, inclusive.
type CounterStats struct {
	Name string
	spread.Stats
}

// countersOf returns the counts of a rank's counters in a region. It returns nil if the counts of
// some executions are not known.
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

// addCounters adds the counters of another region of the rank that is the same region of the job. A
// counter that is not known for both is left out.
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

// Counters returns the counters of the region by name. It leaves out a counter that some rank in
// the region does not have.
func (g *Region) Counters() (out []CounterStats) {
	for _, name := range slices.Sorted(maps.Keys(g.counters)) {
		if m := g.counters[name]; m.N() == g.Reached {
			out = append(out, CounterStats{name, m.Over(g.n, g.absent)})
		}
	}
	return out
}
