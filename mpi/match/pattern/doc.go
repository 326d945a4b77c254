// Package pattern says of each MPI operation how its ranks wait for each other. So it decides which
// room of the matcher takes a call of the operation.
package pattern
