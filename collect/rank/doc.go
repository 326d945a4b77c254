// Package rank holds what is known of a process as a rank of an MPI job. This is what the launcher
// and the MPI library tell, the names of communicators, and the bindings and wrappers that call MPI
// for the program.
package rank
