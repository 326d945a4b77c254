// Package job merges the profiles of many MPI ranks into one job. The job has the figures of
// regions and ranks, the differences between ranks, and the figures that vary together with these
// differences. It keeps no profile. Each profile is reduced to the data that the job needs, and
// then dropped. So memory grows with the number of regions plus the number of ranks. The package
// does no input or output of its own; Read takes readers.
//
// Four packages hold what follows from several ranks together. Package spread tells how a figure is
// distributed over ranks, strip what the ranks did over time, comms the communicators, and traffic
// the messages.
package job
