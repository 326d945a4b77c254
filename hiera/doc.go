// Package hiera computes statistics of hierarchical traces, as HieraAnalyses does (Seraphim,
// Seraphim and Travieso, Int. J. High Performance Systems Architecture 2 (2009) 58-67). A trace
// holds operations of several libraries, and each operation holds the operations that were executed
// during it. The level of an operation is the number of operations that it lies in. Its category is
// the library that it belongs to: mpi, omp, oops, user, or the name of a library's level.
//
// A Tally takes the operations of one process, one by one or already added up. Statistics are what
// the tallies of all processes hold. A Graph joins the operations of different processes that
// belong together. The package is pure.
package hiera
