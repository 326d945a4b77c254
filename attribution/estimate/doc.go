// Package estimate extrapolates what was executed while constructs were not observed. To save cost,
// the probes of all constructs of one class may be removed for a while. When a class is no longer
// observed, or is observed again, the figures of each thread are read (reading.go). Between two
// readings lies a period, in which the class is observed, or a gap (period.go). A period gives a
// rate (rate.go). The rates before and after a gap give the estimate for the gap (estimate.go). The
// estimates are added to the figures at the end (gaps.go).
//
// A rate is per execution of the parallel region around the construct, which is always observed. If
// that region is too long for this, or if there is none, the rate is per second of the program's
// own time. That is the time of a period without the measurement's cost, because there is no cost
// in the gap. No extrapolated time is longer than the time that the region around has to spare.
package estimate
