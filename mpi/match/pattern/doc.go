// Package pattern says, for each MPI operation, how its ranks wait for each other. This decides
// which room of the matcher takes the calls of the operation.
package pattern
