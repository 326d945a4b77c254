package mpi

import (
	"slices"
	"testing"
)

// TestStartEnd: these and no others begin or end MPI.
func TestStartEnd(t *testing.T) {
	var begin, end []string
	for i := range Operations {
		op := &Operations[i]
		if op.Begins {
			begin = append(begin, op.Name)
		}
		if op.Ends {
			end = append(end, op.Name)
		}
		if op.StartEnd() && (op.Kind != Time || op.Query || op.Counts != 0) {
			t.Errorf("%s moves data or looks something up", op.Name)
		}
	}
	if want := []string{"MPI_Init", "MPI_Init_thread", "MPI_Session_init"}; !slices.Equal(begin, want) {
		t.Errorf("%q begin MPI, want %q", begin, want)
	}
	if want := []string{"MPI_Finalize", "MPI_Abort", "MPI_Session_finalize"}; !slices.Equal(end, want) {
		t.Errorf("%q end MPI, want %q", end, want)
	}
}
