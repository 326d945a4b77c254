package compare

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// values are a figure's values, by side and run.
type values [2][]float64

// Summary is what one side's runs say of a figure.
type Summary struct {
	Values []float64 // by run
	Median float64
	// Lo and Hi bound the median of all runs that could be made, with Confidence (0 to 1): they
	// are order statistics. Confidence is 0 if there are too few runs.
	Lo, Hi, Confidence float64
}

// Change is the difference of a figure between the sides.
type Change struct {
	Sides [2]Summary
	// P is the probability that runs of one and the same program would differ as much (test of
	// Mann and Whitney, which assumes no distribution). Tested: there are repeats enough for P
	// to be below the level of significance. Otherwise P means nothing.
	P      float64
	Tested bool
}

// Delta returns how much greater the later median is.
func (c Change) Delta() float64 { return c.Sides[After].Median - c.Sides[Before].Median }

// Ratio returns Delta as a part of the earlier median. If that is 0, the ratio is infinite, or 0 if
// nothing changed.
func (c Change) Ratio() float64 {
	d := c.Delta()
	if d == 0 {
		return 0
	}
	return d / math.Abs(c.Sides[Before].Median)
}

// confidence is that of the intervals around medians.
const confidence = 0.95

func (v *values) change(alpha float64) Change {
	c := Change{P: 1}
	var samples [2]*benchmath.Sample
	for side := range v {
		s := &c.Sides[side]
		s.Values = v[side]
		samples[side] = benchmath.NewSample(slices.Clone(v[side]), &benchmath.Thresholds{CompareAlpha: alpha})
		if len(s.Values) == 0 {
			continue
		}
		sum := benchmath.AssumeNothing.Summary(samples[side], confidence)
		s.Median = sum.Center
		if !math.IsInf(sum.Lo, 0) && !math.IsInf(sum.Hi, 0) && len(s.Values) > 1 {
			s.Lo, s.Hi, s.Confidence = sum.Lo, sum.Hi, sum.Confidence
		}
	}
	n, m := len(v[Before]), len(v[After])
	if c.Tested = leastP(n, m) < alpha; c.Tested {
		c.P = benchmath.AssumeNothing.Compare(samples[Before], samples[After]).P
	}
	return c
}

// leastP is the least P that n and m runs can give: all of one side lie below all of the other.
func leastP(n, m int) float64 {
	if n == 0 || m == 0 {
		return 1
	}
	orders := 1.0
	for i := range min(n, m) {
		orders *= float64(n+m-i) / float64(i+1)
	}
	return min(1, 2/orders)
}

// repeatsFor is the number of runs of each side from which on so many tests together can find one
// difference.
func repeatsFor(tests int, alpha float64) int {
	n := 2
	for float64(tests)*leastP(n, n) >= alpha {
		n++
	}
	return n
}

// holm tells which of several tests hold together: the chance that any of them is a false alarm is
// below alpha (Holm, 1979).
func holm(p []float64, alpha float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]bool, len(p))
	for done, i := range order {
		if p[i]*float64(len(p)-done) >= alpha {
			break
		}
		out[i] = true
	}
	return out
}

// test marks the differences that are more than noise.
func (c *Comparison) test() {
	var p []float64
	var mark []*bool
	add := func(x Change, to *bool) { p, mark = append(p, x.P), append(mark, to) }
	for i := range c.Program {
		if q := &c.Program[i]; q.Name == wallTime || q.Name == serialName {
			add(q.Change, &q.Significant)
		}
	}
	for _, r := range c.Regions {
		if r.Share >= Worthwhile {
			r.Tested = true
			add(r.Change(OwnT), &r.more[OwnT])
			add(r.Change(OwnWorkT), &r.more[OwnWorkT])
		}
	}
	c.Repeats = repeatsFor(len(p), c.Alpha)
	if float64(len(p))*leastP(len(c.Sides[Before]), len(c.Sides[After])) >= c.Alpha {
		for _, r := range c.Regions {
			r.Tested = false
		}
		return
	}
	c.Tests = len(p)
	for i, yes := range holm(p, c.Alpha) {
		*mark[i] = yes
	}
}
