// Package compare joins the runs of two sides, before and after a change, region by region. It says
// which differences are more than the spread of repeats. A run is a job.Job; a process alone is a
// job of one rank. Times are in nanoseconds. The package is pure.
//
// Compare makes a Comparison; Comparison.Check tests a Condition, such as `R:solve imbal > 10%`.
package compare
