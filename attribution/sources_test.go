package attribution

import (
	"maps"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// TestSources: a receive from any source is charged to its sender once the call that completes it
// tells the sender. It is charged at the call that began the receive. Without that it stays with
// any source.
func TestSources(t *testing.T) {
	type calls []event.MPICall
	more := func(c event.MPICall, m event.MPIMore) event.MPICall { c.More = &m; return c }
	on := func(name string, from int32, bytes uint64) event.MPICall {
		return event.MPICall{Op: operation(t, name), Args: mpi.Args{Recv: bytes, Peer: from, Flags: mpi.World}}
	}
	any := func(name string, request uint64) event.MPICall {
		return more(on(name, mpi.AnySource, 8), event.MPIMore{Request: request})
	}
	wait := func(from int32, requests ...uint64) event.MPICall { // of which the last one tells
		m := event.MPIMore{Completes: requests}
		if from >= 0 {
			m.Came = []event.MPICame{{At: len(requests) - 1, Source: from, Tag: 1}}
		}
		return more(event.MPICall{Op: operation(t, "MPI_Waitall")}, m)
	}
	start := func(request uint64) calls {
		s := any("MPI_Recv_init", request)
		s.Flags |= mpi.Started
		return calls{s, {Op: operation(t, "MPI_Start"), More: &event.MPIMore{}}}
	}
	probe := func(name string, from int32, handle uint64) event.MPICall {
		return more(on(name, from, 0), event.MPIMore{Completes: []uint64{handle}})
	}
	mrecv := func(handle uint64) event.MPICall {
		c := on("MPI_Mrecv", 0, 8)
		c.Flags = 0
		return more(c, event.MPIMore{Completes: []uint64{handle}})
	}
	one := func(n uint64) profile.Exchange { return profile.Exchange{Recvs: n, In: 8 * n} }
	for name, x := range map[string]struct {
		calls calls
		want  map[int32]profile.Exchange
	}{
		"told":                      {calls{any("MPI_Irecv", 7), wait(3, 7)}, map[int32]profile.Exchange{3: one(1)}},
		"not told":                  {calls{any("MPI_Irecv", 7), wait(-1, 7)}, map[int32]profile.Exchange{mpi.AnySource: one(1)}},
		"one of two":                {calls{any("MPI_Irecv", 7), any("MPI_Irecv", 8), wait(3, 7, 8)}, map[int32]profile.Exchange{mpi.AnySource: one(1), 3: one(1)}},
		"never complete":            {calls{any("MPI_Irecv", 7)}, map[int32]profile.Exchange{mpi.AnySource: one(1)}},
		"of one sender":             {calls{any("MPI_Irecv", 7), wait(3, 7), any("MPI_Irecv", 7), wait(4, 7), any("MPI_Irecv", 9), wait(4, 9)}, map[int32]profile.Exchange{3: one(1), 4: one(2)}},
		"a test completed it":       {calls{any("MPI_Irecv", 7), any("MPI_Irecv", 7), wait(3, 7)}, map[int32]profile.Exchange{mpi.AnySource: one(1), 3: one(1)}},
		"the handle is a send's":    {calls{any("MPI_Irecv", 7), more(on("MPI_Isend", 1, 0), event.MPIMore{Request: 7}), wait(3, 7)}, map[int32]profile.Exchange{mpi.AnySource: one(1), 1: {Sends: 1}}},
		"completed twice":           {calls{any("MPI_Irecv", 7), wait(3, 7), wait(3, 7)}, map[int32]profile.Exchange{3: one(1)}},
		"persistent":                {append(append(append(calls{}, start(7)...), wait(3, 7)), append(start(7), wait(5, 7))...), map[int32]profile.Exchange{3: one(1), 5: one(1)}},
		"requests are cancelled":    {calls{any("MPI_Irecv", 7), {Op: operation(t, "MPI_Cancel")}, wait(3, 7)}, map[int32]profile.Exchange{mpi.AnySource: one(1)}},
		"told before another is":    {calls{any("MPI_Irecv", 7), wait(3, 7), any("MPI_Irecv", 7), {Op: operation(t, "MPI_Cancel")}, wait(3, 7)}, map[int32]profile.Exchange{3: one(1), mpi.AnySource: one(1)}},
		"a message that was taken":  {calls{probe("MPI_Mprobe", 2, 9), mrecv(9)}, map[int32]profile.Exchange{2: one(1)}},
		"of several":                {calls{probe("MPI_Mprobe", 2, 9), probe("MPI_Improbe", 3, 8), mrecv(8), mrecv(9), mrecv(9)}, map[int32]profile.Exchange{2: one(1), 3: one(1), mpi.AnySource: one(1)}},
		"taken, and nobody told":    {calls{probe("MPI_Mprobe", mpi.AnySource, 9), mrecv(9)}, map[int32]profile.Exchange{mpi.AnySource: one(1)}},
		"none was there":            {calls{probe("MPI_Improbe", 2, 0), mrecv(9)}, map[int32]profile.Exchange{mpi.AnySource: one(1)}},
		"nothing of that was asked": {calls{on("MPI_Irecv", mpi.AnySource, 8)}, map[int32]profile.Exchange{mpi.AnySource: one(1)}},
	} {
		e := New(1, mpiFiles{})
		at := uint64(100)
		for _, c := range x.calls {
			at += 10
			c.Start = at - 5
			e.Feed(&event.Event{Time: at, PID: 1, TID: 1, Construct: event.MPI, Edge: event.Released, Site: 7, SP: 1, MPI: &c})
		}
		if got := exchanged(e.Finish(at + 10)); !maps.Equal(got, x.want) {
			t.Errorf("%s: %+v, want %+v", name, got, x.want)
		}
	}
}

// exchanged returns what a process exchanged with each partner.
func exchanged(p *profile.Profile) map[int32]profile.Exchange {
	got := map[int32]profile.Exchange{}
	for _, n := range p.Nodes {
		for _, s := range n.Stats {
			if s.Traffic == nil {
				continue
			}
			for _, p := range s.Traffic.Partners {
				sum := got[p.Rank]
				sum.Add(p.Exchange)
				got[p.Rank] = sum
			}
		}
	}
	return got
}

// TestSourcesOfThreads: a thread may receive a message that another one has taken, and the library
// may give the same handle again. Threads are read one after the other, in any order.
func TestSourcesOfThreads(t *testing.T) {
	type call struct {
		event.MPICall
		tid uint32
		end uint64
	}
	of := func(tid uint32, name string, start, end uint64, from int32, bytes uint64, more event.MPIMore) call {
		c := event.MPICall{Op: operation(t, name), Start: start, More: &more}
		c.Args = mpi.Args{Recv: bytes, Peer: from, Flags: mpi.World}
		return call{c, tid, end}
	}
	told := func(from int32) []event.MPICame { return []event.MPICame{{Source: from, Tag: 1}} }
	handle := []uint64{9}
	calls := []call{ // the second MPI_Mprobe and MPI_Irecv begin before the handle is free
		of(1, "MPI_Mprobe", 10, 20, 3, 0, event.MPIMore{Completes: handle}),
		of(2, "MPI_Mrecv", 30, 40, 0, 8, event.MPIMore{Completes: handle}),
		of(1, "MPI_Mprobe", 25, 39, 4, 0, event.MPIMore{Completes: handle}),
		of(2, "MPI_Mrecv", 50, 60, 0, 100, event.MPIMore{Completes: handle}),
		of(1, "MPI_Irecv", 70, 80, mpi.AnySource, 8, event.MPIMore{Request: 9}),
		of(2, "MPI_Wait", 90, 100, 0, 0, event.MPIMore{Completes: handle, Came: told(3)}),
		of(1, "MPI_Irecv", 85, 99, mpi.AnySource, 100, event.MPIMore{Request: 9}),
		of(2, "MPI_Wait", 110, 120, 0, 0, event.MPIMore{Completes: handle, Came: told(4)}),
	}
	type want = map[int32]profile.Exchange
	all := want{3: {Recvs: 2, In: 16}, 4: {Recvs: 2, In: 200}}
	for name, x := range map[string]struct {
		order []int // of calls; -1: all that ended before 40 have been read
		want  want
	}{
		"by ends":      {[]int{0, 2, 1, 3, 4, 6, 5, 7}, all},
		"thread 1, 2":  {[]int{0, 2, 4, 6, 1, 3, 5, 7}, all},
		"thread 2, 1":  {[]int{1, 3, 5, 7, 0, 2, 4, 6}, all},
		"in two looks": {[]int{1, 0, 2, -1, 3, 5, 4, 6, 7}, all},
		// Nobody knew of the second thread. What it received before is not told, or rightly.
		"read late": {[]int{0, 2, -1, 1, 3, 4, 6, 5, 7},
			want{mpi.AnySource: {Recvs: 3, In: 116}, 4: {Recvs: 1, In: 100}}},
	} {
		e := New(1, mpiFiles{})
		for _, i := range x.order {
			if i < 0 {
				e.Advance(stragglerWait + 40)
				continue
			}
			c := calls[i]
			e.Feed(&event.Event{Time: c.end, PID: 1, TID: c.tid, Construct: event.MPI, Edge: event.Released, Site: 7, SP: 1, MPI: &c.MPICall})
		}
		if got := exchanged(e.Finish(200)); !maps.Equal(got, x.want) {
			t.Errorf("%s: %+v, want %+v", name, got, x.want)
		}
	}
}

// TestSourcesOfStopped: what a program does after it was stopped is not late, though the reader
// learns of the stop later.
func TestSourcesOfStopped(t *testing.T) {
	e := New(1, mpiFiles{})
	feed := func(name string, start, end uint64, from int32, more event.MPIMore) {
		c := event.MPICall{Op: operation(t, name), Start: start, More: &more}
		c.Args = mpi.Args{Recv: 8, Peer: from, Flags: mpi.World}
		e.Feed(&event.Event{Time: end, PID: 1, TID: 1, Construct: event.MPI, Edge: event.Released, Site: 7, SP: 1, MPI: &c})
	}
	feed("MPI_Barrier", 10, 20, 0, event.MPIMore{})
	e.Advance(190)
	e.Stopped(Stop{From: 50, To: 180})
	feed("MPI_Irecv", 200, 210, mpi.AnySource, event.MPIMore{Request: 9})
	feed("MPI_Wait", 220, 230, 0, event.MPIMore{Completes: []uint64{9}, Came: []event.MPICame{{Source: 3, Tag: 1}}})
	want := map[int32]profile.Exchange{3: {Recvs: 1, In: 8}}
	if got := exchanged(e.Finish(300)); !maps.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
