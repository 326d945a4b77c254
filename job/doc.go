// Package job merges the profiles of many MPI ranks into one job. The job has the figures of
// regions and ranks, where ranks differ, and what the differences go with. It keeps no profile.
// Each profile is reduced to the data that the job needs and dropped, so that memory grows with the
// number of regions plus ranks. The package is pure; Read takes readers.
//
// Four packages hold what ranks tell only together. spread tells how a figure is distributed over
// ranks, strip what ranks did over time, comms the communicators, and traffic the messages.
package job
