package mpicall

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
)

// A program that makes communicators without end needs no memory without end.
func TestManyCommunicators(t *testing.T) {
	dup, ok := mpi.ParseOp("MPI_Comm_dup")
	if !ok {
		t.Fatal("no MPI_Comm_dup")
	}
	var cs Comms
	for i := range uint64(3 * mostComms) {
		cs.Begun(&event.MPICall{Op: dup, Args: mpi.Args{Flags: mpi.World}, New: &event.MPINew{Made: i + 1, Size: 2}})
		cs.Of(&event.MPICall{Op: dup, Made: i + 1})
	}
	unseen := cs.Of(&event.MPICall{Op: dup})
	list := cs.Finished()
	if len(list) > mostComms+2 || len(cs.byMade) > mostComms || list[500].Order != 500 {
		t.Errorf("%d communicators, the 500th %+v", len(list), list[500])
	}
	// Those that found no room were seen being made.
	if c := list[cs.noRoom]; cs.noRoom != mostComms || !c.Several || !c.NoRoom {
		t.Errorf("of all that found no room, %d: %+v", cs.noRoom, c)
	}
	if c := list[unseen]; unseen == cs.noRoom || !c.Several || c.NoRoom {
		t.Errorf("of all that were not seen being made, %d: %+v", unseen, c)
	}
}
