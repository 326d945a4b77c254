package calls

import (
	"strings"
	"testing"

	"ompp-attach/attribution/mpicall"
	"ompp-attach/attribution/seats"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// TestMatched: what package match is told of calls.
func TestMatched(t *testing.T) {
	const world = mpi.World
	for _, c := range []struct {
		name string
		op   string
		args mpi.Args
		more *event.MPIMore
		want string
		is   func(*match.Call) bool
	}{
		{"a message sent", "MPI_Send", mpi.Args{Peer: 3, Tag: 7, Send: 8, Flags: world}, nil, "destination 3",
			func(m *match.Call) bool { return m.Sends && !m.Receives && m.To == 3 && m.SendTag == 7 && m.Comm == 0 }},
		{"a message received", "MPI_Recv", mpi.Args{Peer: 3, Tag: 7, Recv: 8, Flags: world}, &event.MPIMore{RecvTag: 9}, "source 3, tag 9",
			func(m *match.Call) bool { return !m.Sends && m.Receives && m.From == 3 && m.RecvTag == 9 }},
		{"both, tag not read", "MPI_Sendrecv", mpi.Args{Peer: 3, Peer2: 4, Tag: 7, Flags: world}, nil, "any tag",
			func(m *match.Call) bool { return m.To == 3 && m.From == 4 && m.RecvTag == match.AnyTag }},
		{"a probe", "MPI_Probe", mpi.Args{Peer: 3, Flags: world}, nil, "source 3",
			func(m *match.Call) bool { return m.From == 3 && !m.Receives }},
		{"a collective operation with a root", "MPI_Bcast", mpi.Args{Peer: 2, Flags: world}, nil, "root 2",
			func(m *match.Call) bool { return m.To == 2 && m.From == mpi.NoPeer }},
		{"without one", "MPI_Barrier", mpi.Args{Peer: 2, Flags: world}, nil, "no root",
			func(m *match.Call) bool { return m.To == mpi.NoPeer }},
		{"between groups", "MPI_Send", mpi.Args{Peer: 3, Flags: mpi.Inter}, nil, "communicator not known",
			func(m *match.Call) bool { return m.Comm == -1 }},
		{"unknown volume", "MPI_Allreduce", mpi.Args{Flags: world | mpi.UnknownVolume}, nil, "unknown",
			func(m *match.Call) bool { return m.Unknown }},
		{"a wait of which nothing more was read", "MPI_Wait", mpi.Args{}, nil, "untold", func(m *match.Call) bool { return m.Untold }},
		{"a wait for a request", "MPI_Wait", mpi.Args{}, &event.MPIMore{Completes: []uint64{5}}, "completes 5",
			func(m *match.Call) bool { return !m.Untold && len(m.Completes) == 1 && m.Completes[0] == 5 }},
		{"a persistent operation is prepared", "MPI_Send_init", mpi.Args{Peer: 3, Flags: world}, &event.MPIMore{Request: 5}, "untold",
			func(m *match.Call) bool { return m.Untold && m.Request == 5 }},
		{"it is started", "MPI_Send_init", mpi.Args{Peer: 3, Flags: world | mpi.Started}, &event.MPIMore{Request: 5}, "told",
			func(m *match.Call) bool { return !m.Untold && m.Request == 5 }},
		{"an exclusive lock", "MPI_Win_lock", mpi.Args{Peer: 1}, &event.MPIMore{Exclusive: true}, "exclusive, target 1",
			func(m *match.Call) bool { return m.Sends && m.To == 1 }},
		{"a shared lock", "MPI_Win_lock", mpi.Args{Peer: 1}, &event.MPIMore{}, "shared", func(m *match.Call) bool { return !m.Sends && m.To == 1 }},
	} {
		op, known := mpi.ParseOp(c.op)
		if !known {
			t.Fatalf("%s is not known", c.op)
		}
		if m := matched(&mpicall.Comms{}, &event.MPICall{Op: op, Args: c.args, More: c.more}); !c.is(&m) {
			t.Errorf("%s (%s): %+v, want %s", c.name, c.op, m, c.want)
		}
	}
}

// process returns the calls of a process without events.
func process() *MPI {
	st := &stack.Stacks{}
	st.Tree, st.Existing.Seats, st.Pid = tree.New(nil), seats.New(), 1
	st.Teams = &stack.Teams{}
	return &MPI{Stacks: st}
}

// TestSharedSeat: threads that call MPI and start no team have seats of their own up to a bound.
func TestSharedSeat(t *testing.T) {
	ca := process()
	seatOf := map[int]int{}
	for i := range ManyCallers + 3 {
		th := &stack.Thread{Life: stack.Life{Tid: uint32(100 + i)}}
		for range 2 {
			ca.caller(th)
		}
		seatOf[th.Seat]++
		if shared := ca.SharedSeat(); (shared != nil) != (i >= ManyCallers) {
			t.Errorf("after %d callers: %q", i+1, shared)
		}
	}
	if len(seatOf) != ManyCallers+1 {
		t.Errorf("%d seats, want %d", len(seatOf), ManyCallers+1)
	}
	if n := strings.Join(ca.SharedSeat(), ""); !strings.Contains(n, "129:0") {
		t.Errorf("%q, want seat 129:0", n)
	}
}

// TestChargeMPI: a call counts in each open region whose clock runs, and for the program.
func TestChargeMPI(t *testing.T) {
	region := func(c event.Construct) stack.OpenRegion {
		n := &tree.Node{}
		n.Key.Construct = c
		return stack.OpenRegion{Node: n}
	}
	internal := region(event.TaskExec)
	internal.Internal = true
	for _, c := range []struct {
		name string
		open []stack.OpenRegion
		want []bool
	}{
		{"nested regions", []stack.OpenRegion{region(event.Parallel), region(event.Loop)}, []bool{true, true}},
		{"a task in a barrier", []stack.OpenRegion{region(event.Parallel), region(event.Barrier), region(event.TaskExec)}, []bool{true, true, true}},
		{"a task in a wait for tasks", []stack.OpenRegion{region(event.Parallel), region(event.TaskWait), region(event.TaskExec)}, []bool{true, false, true}},
		{"a task in another task's wait", []stack.OpenRegion{region(event.Parallel), region(event.TaskExec), region(event.Critical), region(event.TaskWait), region(event.TaskExec)},
			[]bool{true, false, false, false, true}},
		{"a task of the runtime", []stack.OpenRegion{region(event.Parallel), internal, region(event.Loop)}, []bool{true, false, true}},
	} {
		ca := process()
		ca.chargeMPI(&stack.Thread{Stack: c.open}, &profile.MPIStats{Calls: 1})
		for i, want := range c.want {
			if m := c.open[i].Node.Stat(0).MPI; (m != nil && m.Calls == 1) != want {
				t.Errorf("%s: region %d is charged %t, want %t", c.name, i, m != nil, want)
			}
		}
		if m := ca.Tree.Root.Stat(0).MPI; m == nil || m.Calls != 1 {
			t.Errorf("%s: the program is charged with %+v", c.name, m)
		}
	}
}
