// Command ompp-attach profiles OpenMP and MPI programs from outside. It launches or attaches to an
// unmodified program, and writes ompP reports and pprof profiles.
//
// The package holds the subcommands that measure or look at programs, and their flags. The
// subcommands that read recorded runs are in package reading. Exit statuses and messages are in
// package cli. rank.go is `run` for one MPI rank, and leaves the measuring to the node's collector
// (collector.go; package node).
//
// default.pgo is a CPU profile of the engine, the decoder and the tool at work. The Go compiler
// optimises the tool by this profile, which saves a tenth to a sixth of their time. `make pgo`
// makes a new one.
package main
