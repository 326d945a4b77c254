// Command ompp-attach profiles OpenMP and MPI programs from outside: it launches or attaches to an
// unmodified program and writes ompP reports and pprof profiles.
//
// The package holds subcommands, flags, files and exit statuses. rank.go is the thin tool of one MPI rank.
// wire.go is what a rank's tool and the collector of its node tell each other; both are one build, whose
// version is in the socket's name. claim.go tells which files in the results directory are the job's own
// and which an older run's. voice.go writes messages without making the measurement wait.
//
// default.pgo is a profile of the engine, the decoder and the tool at work. The Go compiler optimises them
// by it, which saves a tenth to a sixth of their time. `make pgo` makes it anew.
package main
