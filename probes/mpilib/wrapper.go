package mpilib

import (
	"slices"
	"strings"

	"ompp-attach/mpi"
	"ompp-attach/symbols"
)

// A wrapper stands between a program and its MPI library: a tool that counts or traces calls, most
// often preloaded. It defines MPI_X and calls PMPI_X (MPI 4.0, 15.2), or looks up the next MPI_X or
// PMPI_X by dlsym. A program's call is one call of the library behind it.

// wraps are the functions of the library that a wrapper calls if it defines them.
var wraps = []string{"PMPI_Init", "PMPI_Init_thread", "PMPI_Comm_rank", "PMPI_Finalize"}

// IsWrapper reports whether a file defines functions of MPI, and another file's functions do their
// work. Ask only about files that are no MPI libraries.
func IsWrapper(o *symbols.Object) bool {
	return isWrapper.Of(o, func(o *symbols.Object) bool {
		looks := looksUp(o)
		for i := range mpi.Operations {
			if name := mpi.Operations[i].Name; o.Exports(name) && (looks || o.Imports("P"+name)) {
				return true
			}
		}
		return false
	})
}

var isWrapper symbols.Memo[bool]

// looksUp reports whether a file looks up functions of other files by their names.
func looksUp(o *symbols.Object) bool { return o.Imports("dlsym") || o.Imports("dlvsym") }

// Libraries returns the MPI libraries among files that all look like one (Is). A wrapper that looks
// up the functions it calls can be told from a library only if the family of another file is known.
func Libraries(of []*symbols.Object) (libraries []*symbols.Object) {
	if len(of) < 2 || !slices.ContainsFunc(of, named) {
		return of
	}
	for _, o := range of {
		if named(o) || !looksUp(o) {
			libraries = append(libraries, o)
		}
	}
	return libraries
}

// named reports whether an MPI library's family is known.
func named(o *symbols.Object) bool { return IsOpenMPI(o) || version(o) != "" || brand(o) != "MPICH" }

// Passes reports whether a function of a wrapper passes calls of an operation on: MPI_Send,
// PMPI_Send or mpi_send_ those of MPI_Send. MPI_Start and MPI_Startall do for all that they start.
func Passes(function string, op mpi.Op) bool {
	name, _, _ := strings.Cut(strings.ToUpper(function), ".") // MPI_Send.cold
	name = strings.TrimPrefix(strings.TrimRight(name, "_"), "P")
	return name == strings.ToUpper(op.String()) || name == "MPI_START" || name == "MPI_STARTALL"
}
