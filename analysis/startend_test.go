package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// 100 are in MPI_Init_thread, 30 in MPI_Send, 20 in MPI_Finalize. So the start and the end take
// 120, 100 of them the start.
func TestMPIStartEnd(t *testing.T) {
	var nodes []profile.Node
	for i, took := range []int64{100, 30, 20} {
		nodes = append(nodes, profile.Node{Region: i, Stats: []stats{{Exec: span(took, 1), MPI: &profile.MPIStats{T: took, Calls: 1}}}})
	}
	p := profileOf(t, 1000, two, []event.Construct{event.MPI, event.MPI, event.MPI}, nodes)
	for i, name := range []string{"MPI_Init_thread", "MPI_Send", "MPI_Finalize"} {
		p.Regions[i].Name = name
	}
	want := StartEnd{Operations: []string{"MPI_Init_thread", "MPI_Finalize"}, T: 120,
		Begin: map[int]int64{0: 100}, All: map[int]int64{0: 120}}
	if diff := cmp.Diff(want, MPIStartEnd(p)); diff != "" {
		t.Error(diff)
	}
	p.Regions[0].Construct = event.UserRegion // a function of that name
	if got := MPIStartEnd(p).T; got != 20 {
		t.Errorf("with a user region of the name %d, want 20", got)
	}
}
