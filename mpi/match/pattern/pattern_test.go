package pattern

import (
	"slices"
	"testing"

	"ompp-attach/mpi"
)

// TestPatterns: MPI's operations have the patterns that are documented.
func TestPatterns(t *testing.T) {
	for name, want := range map[string]Pattern{"Ssend_init": Message, "Ibarrier": Barrier, "Barrier_init": Barrier, "Igatherv": AllToOne,
		"Exscan": Prefix, "Reduce_scatter_block": AllToAll, "Waitany": Completing, "Test": None, "Comm_dup": None, "Put": None, "File_read_all": None, "Rput": Making, "File_iread": Making, "Grequest_start": Making,
		"Ineighbor_alltoallw": Unsupported, "Mprobe": Taking, "Imrecv": MatchedRecvs, "Init_thread": Beginning, "Psend_init": Making, "Comm_idup": Making, "Win_fence": Fencing, "Win_allocate_shared": Creating, "Win_free": Freeing, "Win_post": Posting, "Win_start": Starting, "Win_complete": Closing, "Win_wait": Exposed, "Win_test": None, "Win_flush": None, "Win_lock": Locking, "Win_unlock_all": Unlocking} {
		if got := Of(op(name)); got != want {
			t.Errorf("%s: %d, not %d", name, got, want)
		}
	}
	if !slices.Contains(patterns, OneToAll) || Of(mpi.Op(len(mpi.Operations))) != None {
		t.Error("Of")
	}
}

func op(name string) mpi.Op {
	o, ok := mpi.ParseOp("MPI_" + name)
	if !ok {
		panic(name)
	}
	return o
}
