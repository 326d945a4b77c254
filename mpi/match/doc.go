// Package match holds what the matcher of MPI calls takes, and what it finds. It takes a log of
// calls for each rank (RankCalls). It finds how long ranks waited for each other, and counts the
// calls that were matched (Result).
//
// The matcher itself is in the packages below this one:
//
//   - pattern: how the ranks of an operation wait for each other
//   - reader: reads the logs together, and matches the calls
package match
