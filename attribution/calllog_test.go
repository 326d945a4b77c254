package attribution

import (
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// TestLogCalls: the profile has the calls one by one, at the nodes and threads that they belong to.
func TestLogCalls(t *testing.T) {
	op := func(name string) mpi.Op { o, _ := mpi.ParseOp(name); return o }
	e := New(7, mpiFiles{})
	e.LogCalls()
	call := func(name string, start, end uint64, lost uint32, args mpi.Args, more *event.MPIMore) {
		e.Feed(&event.Event{Time: end, PID: 7, TID: 7, Construct: event.MPI, Edge: event.Released, SP: 0x7000, Site: 0x400 + start, Lost: lost,
			MPI: &event.MPICall{Op: op(name), Start: start, Args: args, More: more}})
	}
	world := mpi.Args{Flags: mpi.World, Peer: mpi.NoPeer, Peer2: mpi.NoPeer}
	send := mpi.Args{Flags: mpi.World, Peer: 1, Peer2: mpi.NoPeer, Tag: 5, Send: 8}
	call("MPI_Barrier", 1000, 2000, 0, world, nil)
	e.Stopped(Stop{From: 2500, To: 2600})
	call("MPI_Send", 3000, 3500, 0, send, nil)
	call("MPI_Comm_rank", 3600, 3601, 0, world, nil)
	call("MPI_Isend", 4000, 4100, 0, send, &event.MPIMore{Request: 99})
	call("MPI_Wait", 4200, 4300, 2, mpi.Args{}, &event.MPIMore{Completes: []uint64{99}})
	if s, _ := e.Copy(mpiFiles{}).Snapshot(5000); s.Calls != nil {
		t.Error("a snapshot has calls")
	}
	p := e.Finish(5000)
	l := p.Calls
	if l == nil || l.Calls != 4 || len(l.Threads) != 1 || !l.Lost || l.Monotonic(l.Until) != 4100 {
		t.Fatalf("%+v", l)
	}
	var got []match.Call
	var names []string
	for r := l.Reader(0); ; {
		c, ok := r.Next()
		if !ok {
			break
		}
		x := *c
		x.Completes = slices.Clone(x.Completes)
		got = append(got, x)
		at := l.Sites[c.Site]
		names = append(names, p.Regions[p.Nodes[at.Node].Region].Name)
		if at.Thread != 0 {
			t.Errorf("thread %d", at.Thread)
		}
	}
	if want := []string{"MPI_Barrier", "MPI_Send", "MPI_Isend", "MPI_Wait"}; !slices.Equal(names, want) {
		t.Errorf("%v, not %v", names, want)
	}
	if c := got[1]; c.Start != 3000 || c.End != 3500 || c.To != 1 || c.SendTag != 5 || !c.Sends || c.Receives || c.Comm != 0 {
		t.Errorf("%+v", c)
	}
	if !got[2].Later || got[2].Request != 99 || !slices.Equal(got[3].Completes, []uint64{99}) || got[3].Untold {
		t.Errorf("%+v", got[2:])
	}
}
