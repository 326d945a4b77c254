package match

import (
	"testing"

	"ompp-attach/mpi"
)

// TestWanted: logs hold the calls of operations that have a rule, and no others.
func TestWanted(t *testing.T) {
	test, _ := mpi.ParseOp("MPI_Test")
	send, _ := mpi.ParseOp("MPI_Send")
	if Wanted(test) || !Wanted(send) || Wanted(mpi.Op(len(mpi.Operations))) {
		t.Error("Wanted")
	}
}
