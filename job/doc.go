// Package job merges the profiles of many MPI ranks into one job: the figures of regions and ranks,
// where ranks differ, and what the differences go with. It keeps no profile. Each profile is
// reduced to the data that the job needs and dropped, so that memory grows with the number of
// regions plus ranks. The package is pure; Read takes readers.
//
// What ranks tell only together has packages of its own: spread (how a figure is distributed over
// ranks), strip (what ranks did over time), comms (communicators) and traffic (messages).
package job
