package profile

import "math"

// Conversion of counters as they were read to the counters of reports.

// eachCounts replaces the counters of every thread at every node by the result of f. The argument s
// of f is nil for the counters of child regions.
func eachCounts(p *Profile, f func(s *ThreadStats, v []int64) []int64) {
	for i := range p.Nodes {
		for j := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[j]
			if s.Counters != nil {
				s.Counters = f(s, s.Counters)
			}
			if s.ChildCounters != nil {
				s.ChildCounters = f(nil, s.ChildCounters)
			}
		}
	}
}

func scaled(v int64, by float64) int64 { return int64(math.Round(float64(v) * by)) }

// ScaleCounters scales each counter by the share of the time (0 to 1) in which it counted.
func ScaleCounters(p *Profile, share []float64) {
	eachCounts(p, func(_ *ThreadStats, v []int64) []int64 {
		for i := range min(len(v), len(share)) {
			if share[i] > 0 && share[i] < 1 {
				v[i] = scaled(v[i], 1/share[i])
			}
		}
		return v
	})
}

// ScaleTurns scales n counters that took turns. Behind the counters, a thread's numbers hold the
// time for which each of them counted, and the time for which the thread was on a CPU. ScaleTurns
// removes these numbers. It returns the share of time in which each counter counted.
func ScaleTurns(p *Profile, n int) []float64 {
	ran, time := make([]float64, n), 0.0
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Stats {
			if p.Nodes[i].Parent != 0 || len(s.Counters) <= 2*n {
				continue
			}
			time += float64(s.Counters[2*n])
			for k := range ran {
				ran[k] += float64(s.Counters[n+k])
			}
		}
	}
	eachCounts(p, func(s *ThreadStats, v []int64) []int64 {
		if len(v) <= 2*n {
			return v[:min(len(v), n)]
		}
		for k := range n {
			switch {
			case v[n+k] > 0:
				v[k] = scaled(v[k], float64(v[2*n])/float64(v[n+k]))
			case v[2*n] > 0 && s != nil: // the counter never had its turn here
				s.Uncounted = max(s.Uncounted, s.Exec.C)
			}
		}
		return v[:n:n]
	})
	for k := range ran {
		if ran[k] = ran[k] / time; !(ran[k] < 1) { // NaN: nothing was counted
			ran[k] = 1
		}
	}
	return ran
}

// SpreadCounters reorders counters: the i-th one becomes the one at column[i], or 0 if that is -1.
func SpreadCounters(p *Profile, column []int) {
	eachCounts(p, func(_ *ThreadStats, v []int64) []int64 {
		out := make([]int64, len(column))
		for i, from := range column {
			if from >= 0 && from < len(v) {
				out[i] = v[from]
			}
		}
		return out
	})
}
