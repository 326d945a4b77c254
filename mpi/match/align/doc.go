// Package align finds out with which operations on MPI_COMM_WORLD the logs of ranks begin. Ranks
// may be attached to at different moments. Then their logs begin with different collective
// operations.
//
// All ranks call these operations in one order. Each log has the operations of its rank without a
// gap. From some operations nobody can leave before others have come to them. There are none before
// MPI_Init and after MPI_Finalize.
//
// Starts tries all ways to put two sequences side by side. It takes one way only if these facts
// contradict all others. So nothing is guessed.
//
//   - align.go: reads the first operations of each log
//   - lineup.go: puts the operations of the ranks side by side
package align
