// Package align finds out with which operations on MPI_COMM_WORLD the logs of ranks begin. Ranks
// may be attached to at different moments. Then their logs begin with different collective
// operations.
//
// These facts decide:
//
//   - All ranks call these operations in one order, and each log has the operations of its rank
//     without a gap.
//   - From some operations no rank can leave before others have come to them.
//   - There are no operations before MPI_Init and after MPI_Finalize.
//
// Starts tries all ways to put two sequences side by side. It takes a way only if the facts
// contradict all other ways. So nothing is guessed.
//
//   - align.go: reads the first operations of each log
//   - lineup.go: puts the operations of the ranks side by side
package align
