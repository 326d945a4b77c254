package job

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// TestJoinedWithoutRoom: a profile has room for a number of communicators only. Communicators that
// were made before count in the order of calls nevertheless.
func TestJoinedWithoutRoom(t *testing.T) {
	dup, _ := mpi.ParseOp("MPI_Comm_dup")
	p := &profile.Profile{Comms: []profile.Comm{{Parent: -1}, {By: &dup, Order: 1, Made: 100}, {By: &dup, Order: 2, Made: 200}, {Parent: -1, Several: true, NoRoom: true}}}
	p.Meta.Attached = true
	if got := joinedOf(p); got.until != 200 || len(got.makings) != 2 || got.makings[0].End != 100 {
		t.Errorf("%+v", got)
	}
}
