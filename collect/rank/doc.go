// Package rank holds what is known of a process as a rank of an MPI job: what its launcher and its
// MPI library tell of it, the communicators that have names, and the code that calls MPI on behalf
// of the program.
package rank
