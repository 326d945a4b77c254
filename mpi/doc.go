// Package mpi knows the operations of MPI: their names, where their arguments
// stand, and which volumes a call moves. It is a leaf: tables and arithmetic,
// nothing of a process.
package mpi
