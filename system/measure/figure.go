package measure

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"ompp-attach/system"
)

// oneSigma is the probability that a normal variable is within its standard deviation.
const oneSigma = 0.6827

// figure sums samples up, at least three. wanted is the standard error, relative to the figure, at
// which the program stops sampling.
func figure(samples []float64, wanted float64) system.Figure {
	s := benchmath.NewSample(slices.Clone(samples), &benchmath.DefaultThresholds)
	sum := benchmath.AssumeNothing.Summary(s, oneSigma)
	f := system.Figure{N: len(samples), Median: sum.Center, Min: slices.Min(samples), Stopped: system.Bound}
	for _, x := range samples {
		f.Mean += x / float64(len(samples))
	}
	lo, hi := sum.Lo, sum.Hi
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) { // too few samples for the interval: all of them
		lo, hi = f.Min, slices.Max(samples)
	}
	f.Error = (hi - lo) / 2
	if f.Error <= wanted*math.Abs(f.Median) {
		f.Stopped = system.Precise
	}
	return f
}
