package attribution

import (
	"reflect"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

func operation(t *testing.T, name string) mpi.Op {
	t.Helper()
	op, ok := mpi.ParseOp(name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	return op
}

// Communicators are those that calls made, also if threads are read in another order than they
// called. What was not seen being made is one of several.
func TestCommunicators(t *testing.T) {
	dup, split := operation(t, "MPI_Comm_dup"), operation(t, "MPI_Comm_split")
	e := New(1, mpiFiles{})
	at := uint64(100)
	call := func(tid uint32, c event.MPICall) {
		at += 10
		c.Start = at - 5
		e.Feed(&event.Event{Time: at, PID: 1, TID: tid, Construct: event.MPI, Edge: event.Released, Site: 7, SP: 1, MPI: &c})
	}
	send := func(tid uint32, flags mpi.ArgFlag, made uint64, to int32) {
		call(tid, event.MPICall{Op: operation(t, "MPI_Send"), Made: made, Args: mpi.Args{Send: 8, Peer: to, Flags: flags}})
	}
	send(1, 0, 2000, 1) // made by a call of the other thread, which is read later
	send(1, 0, 1000, 2)
	call(2, event.MPICall{Op: split, Args: mpi.Args{Flags: mpi.World}, New: &event.MPINew{Made: 2000, Size: 4, Rank: 3, Decides: 9}})
	call(2, event.MPICall{Op: dup, Args: mpi.Args{Flags: mpi.World}, New: &event.MPINew{Made: 1000, Size: 8, Rank: 7}})
	call(1, event.MPICall{Op: dup, Made: 2000, New: &event.MPINew{Made: 3000, Size: 4, Rank: 3}})
	send(1, mpi.World, 0, 3)
	send(1, mpi.Self, 0, 0)
	send(1, 0, 0, 4)
	send(1, 0, 3000, 5)
	send(1, mpi.World, 0, 3)
	send(1, mpi.World, 0, mpi.ProcNull)
	p := e.Finish(at + 10)
	want := []profile.Comm{
		{Parent: -1},
		{Parent: 0, By: &split, Order: 2, Decides: 9, Made: 2000, Size: 4, Rank: 3},
		{Parent: 0, By: &dup, Order: 1, Made: 1000, Size: 8, Rank: 7},
		{Parent: 1, By: &dup, Order: 1, Made: 3000, Size: 4, Rank: 3},
		{Parent: -1, Size: 1},
		{Parent: -1, Several: true},
	}
	if !reflect.DeepEqual(p.Comms, want) {
		t.Errorf("%+v\nwant %+v", p.Comms, want)
	}
	var got *profile.Traffic
	for _, n := range p.Nodes {
		for _, s := range n.Stats {
			got = got.Plus(s.Traffic)
		}
	}
	one := profile.Exchange{Sends: 1, Out: 8}
	partners := []profile.Partner{{Comm: 0, Rank: 3, Exchange: profile.Exchange{Sends: 2, Out: 16}}, {Comm: 1, Rank: 1, Exchange: one},
		{Comm: 2, Rank: 2, Exchange: one}, {Comm: 3, Rank: 5, Exchange: one}, {Comm: 4, Rank: 0, Exchange: one}, {Comm: 5, Rank: 4, Exchange: one}}
	if got == nil || !reflect.DeepEqual(got.Partners, partners) || !reflect.DeepEqual(got.Sent, profile.Sizes{0, 0, 0, 0, 7}) {
		t.Errorf("%+v\nwant %+v", got, partners)
	}
}
