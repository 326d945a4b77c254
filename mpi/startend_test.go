package mpi

import (
	"slices"
	"strings"
	"testing"
)

// TestStartEnd: the listed operations begin or end MPI, and no others.
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

// TestSpawnsProcesses: these and no others start processes.
func TestSpawnsProcesses(t *testing.T) {
	var got []string
	for i := range Operations {
		if name := Operations[i].Name; SpawnsProcesses(name) {
			got = append(got, name)
		}
	}
	if want := []string{"MPI_Comm_spawn", "MPI_Comm_spawn_multiple"}; !slices.Equal(got, want) {
		t.Errorf("%q start processes, want %q", got, want)
	}
}

// TestCommunicates: one operation of each kind that communicates, and some that do not.
func TestCommunicates(t *testing.T) {
	is := map[string]bool{"MPI_Send": true, "MPI_Irecv": true, "MPI_Sendrecv": true, "MPI_Wait": true, "MPI_Testany": true, "MPI_Probe": true,
		"MPI_Barrier": true, "MPI_Ibarrier": true, "MPI_Allreduce": true, "MPI_Neighbor_alltoall": true, "MPI_Put": true, "MPI_Win_fence": true,
		"MPI_Win_unlock": true, "MPI_Start": true,
		"MPI_Init": false, "MPI_Finalize": false, "MPI_Comm_rank": false, "MPI_Wtime": false, "MPI_Type_commit": false, "MPI_Comm_dup": false,
		"MPI_File_write_all": false}
	for name, want := range is {
		op, ok := ParseOp(name)
		if !ok || op.Info().Communicates != want {
			t.Errorf("%s: communicates %v, want %v", name, op.Info().Communicates, want)
		}
	}
	for i := range Operations {
		if op := &Operations[i]; op.Communicates && (op.Query || op.StartEnd()) {
			t.Errorf("%s communicates", op.Name)
		}
	}
}

// immediateNames are MPI 4.0's operations that make a request and do not wait; each has a form with
// 64-bit counts where it has counts.
const immediateNames = `
Isend Ibsend Issend Irsend Irecv Imrecv Isendrecv Isendrecv_replace Rput Rget Raccumulate
Rget_accumulate Ibarrier Ibcast Igather Igatherv Iscatter Iscatterv Iallgather Iallgatherv Ialltoall
Ialltoallv Ialltoallw Ireduce Iallreduce Ireduce_scatter Ireduce_scatter_block Iscan Iexscan
Ineighbor_allgather Ineighbor_allgatherv Ineighbor_alltoall Ineighbor_alltoallv Ineighbor_alltoallw
File_iread File_iread_at File_iread_all File_iread_at_all File_iread_shared
File_iwrite File_iwrite_at File_iwrite_all File_iwrite_at_all File_iwrite_shared
Comm_idup Comm_idup_with_info Grequest_start`

// TestImmediate: the listed operations are immediate, and no others.
func TestImmediate(t *testing.T) {
	left := map[string]bool{}
	for _, name := range strings.Fields(immediateNames) {
		left["MPI_"+name] = true
	}
	for i := range Operations {
		op := &Operations[i]
		name := strings.TrimSuffix(op.Name, "_c")
		if _, want := left[name]; op.Immediate() != want {
			t.Errorf("%s is immediate: %v, want %v", op.Name, op.Immediate(), want)
		}
		if _, ok := left[name]; ok {
			left[name] = false
		}
	}
	for name, missing := range left {
		if missing {
			t.Errorf("there is no %s", name)
		}
	}
}
