package mpilib

import (
	"reflect"
	"slices"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/mpi"
)

// TestAsked: the requests that a thread reports belong to its next call.
func TestAsked(t *testing.T) {
	op := func(name string) mpi.Op { o, _ := mpi.ParseOp(name); return o }
	var d Decoder
	const waits, matched = bpf.MPIWaits, bpf.MPIMatched
	for _, row := range []decoded{
		{op: op("MPI_Waitall"), flags: waits | matched}, {op: op("MPI_Waitsome"), flags: matched}, {op: op("MPI_Irecv"), flags: bpf.MPIBegun | matched, birth: true}, {op: op("MPI_Bcast"), flags: matched},
	} {
		row.constants = &mpi.OpenMPIConstants
		d.rows = append(d.rows, row)
	}
	record := func(row uint16, tid uint32) *bpf.MPIRecord {
		r := &bpf.MPIRecord{}
		r.Row, r.Tid, r.RecvTag = row, tid, 7
		return r
	}
	ask := func(tid uint32, requests ...uint64) {
		for _, q := range requests {
			r := record(0, tid)
			r.Flags, r.Request = bpf.MPIAsked, q
			if !d.Asked(r) {
				t.Fatal("it is a request")
			}
		}
	}
	call := func(r *bpf.MPIRecord) *event.MPICall {
		var ev event.Event
		if d.Asked(r) {
			t.Fatal("it is a call")
		}
		if _, ok := d.Event(r, &ev); !ok {
			t.Fatal("no event")
		}
		return ev.MPI
	}
	ask(1, 11, 12)
	ask(2, 21)
	if x := call(record(0, 1)).More; !slices.Equal(x.Completes, []uint64{11, 12}) || x.Untold || x.Request != 0 {
		t.Errorf("%+v", x)
	}
	if x := call(record(0, 1)).More; x.Completes != nil {
		t.Errorf("requests of the call before: %+v", x)
	}
	if x := call(record(0, 2)).More; !slices.Equal(x.Completes, []uint64{21}) {
		t.Errorf("another thread: %+v", x)
	}
	ask(1, 31, 32)
	came := record(0, 1)
	came.Flags, came.Request, came.Peer = bpf.MPIAsked|bpf.MPICame, 32, 3
	if !d.Asked(came) {
		t.Fatal("it is what a request received")
	}
	if x := call(record(0, 1)).More; !slices.Equal(x.Completes, []uint64{31, 32}) || !slices.Equal(x.Came, []event.MPICame{{At: 1, Source: 3, Tag: 7}}) {
		t.Errorf("%+v", x)
	}
	for _, flags := range []uint16{bpf.MPIUnasked, bpf.MPIUnfinished} {
		ask(1, 41)
		r := record(0, 1)
		r.Flags = flags
		if x := call(r).More; !x.Untold || x.Completes != nil {
			t.Errorf("flags %#x: %+v", flags, x)
		}
	}
	ask(1, 51)
	r := record(0, 1)
	r.Lost = 1
	if x := call(r).More; !x.Untold {
		t.Errorf("after a loss: %+v", x)
	}
	if x := call(record(1, 1)).More; !x.Untold {
		t.Errorf("requests that are not read: %+v", x)
	}
	begun := record(2, 1)
	begun.Request, begun.Own, begun.Birth = 99, 5, 6
	if c := call(begun); c.More.Request != 99 || c.More.RecvTag != 7 || c.Made != 5 {
		t.Errorf("%+v %+v", c, c.More)
	}
	coll := record(3, 1)
	coll.Own, coll.Birth = 5, 6
	if c := call(coll); c.Made != 6 {
		t.Errorf("made %d", c.Made)
	}
}

// TestGroups: calls that make groups tell by which ints, of which groups, and when. Locks tell
// their type.
func TestGroups(t *testing.T) {
	op := func(name string) mpi.Op { o, _ := mpi.ParseOp(name); return o }
	d := Decoder{rows: []decoded{
		{op: op("MPI_Group_incl"), flags: bpf.MPIMatched | bpf.MPIGroup | bpf.MPIMakesGroup},
		{op: op("MPI_Comm_group"), flags: bpf.MPIMatched | bpf.MPIMakesGroup},
		{op: op("MPI_Win_post"), flags: bpf.MPIMatched | bpf.MPIGroup},
		{op: op(winLock), flags: bpf.MPIMatched},
	}}
	for i := range d.rows {
		d.rows[i].constants = &mpi.OpenMPIConstants
	}
	call := func(row, flags uint16, lost uint32, asked ...uint64) event.MPICall {
		for _, x := range asked {
			r := &bpf.MPIRecord{}
			r.Row, r.Flags, r.Request = row, bpf.MPIAsked, x
			d.Asked(r)
		}
		r := &bpf.MPIRecord{}
		r.Row, r.Flags, r.Lost, r.Time, r.Own, r.Birth = row, flags, lost, 90, 5, 6
		var ev event.Event
		if _, ok := d.Event(r, &ev); !ok {
			t.Fatal("no event")
		}
		return *ev.MPI
	}
	if c := call(0, 0, 0, 3, 1); c.More.Untold || !slices.Equal(c.More.Completes, []uint64{3, 1}) || c.More.Group != 5 || c.More.NewGroup != 90 || c.Made != 6 {
		t.Errorf("%+v %+v", c, c.More)
	}
	if c := call(1, 0, 0); c.More.Untold || c.More.Group != 0 || c.More.NewGroup != 90 || c.Made != 6 {
		t.Errorf("%+v %+v", c, c.More)
	}
	for typ, exclusive := range map[int32]bool{mpi.OpenMPIConstants.LockExclusive: true, mpi.OpenMPIConstants.LockExclusive + 1: false} {
		var ev event.Event
		r := &bpf.MPIRecord{}
		r.Row, r.RecvTag = 3, typ
		if d.Event(r, &ev); ev.MPI.More.Exclusive != exclusive {
			t.Errorf("lock of type %d: %+v", typ, ev.MPI.More)
		}
	}
	if c := call(2, 0, 0); c.More.Untold || c.More.Group != 5 || c.More.NewGroup != 0 || c.Made != 6 {
		t.Errorf("%+v %+v", c, c.More)
	}
	for _, c := range []event.MPICall{call(0, bpf.MPIUnasked, 0, 3), call(0, 0, 1, 3)} {
		if !c.More.Untold || c.More.Completes != nil {
			t.Errorf("what was not read: %+v", c.More)
		}
	}
	if c := call(0, bpf.MPIUnfinished, 0, 3); c.More.NewGroup != 0 {
		t.Errorf("a call that did not end: %+v", c.More)
	}
}

// TestMessages: calls that take a message, or receive one that was taken, tell its handle.
func TestMessages(t *testing.T) {
	var d Decoder
	names := []string{"MPI_Mprobe", "MPI_Improbe", "MPI_Mrecv", "MPI_Imrecv"}
	for _, name := range names {
		o, _ := mpi.ParseOp(name)
		r := reading{arch: "amd64", matched: true}
		row := r.of(o.Info())
		d.rows = append(d.rows, decoded{op: o, flags: row.Flags, birth: row.Flags&bpf.MPIBirth != 0, constants: &mpi.OpenMPIConstants})
	}
	for i, name := range names {
		for _, flags := range []uint16{0, bpf.MPIUnasked, bpf.MPIUnfinished, bpf.MPIFailed} {
			r := &bpf.MPIRecord{}
			r.Row, r.Flags, r.Request, r.Birth = uint16(i), flags, 11, 22
			var ev event.Event
			if _, ok := d.Event(r, &ev); !ok {
				t.Fatal("no event")
			}
			want := event.MPIMore{Completes: []uint64{11}} // what the call took
			made := uint64(22)
			if i >= 2 {
				want, made = event.MPIMore{Request: 11, Completes: []uint64{22}}, 0
			} else if flags&(bpf.MPIUnasked|bpf.MPIUnfinished) != 0 {
				want = event.MPIMore{Untold: true}
			}
			want.Failed = flags == bpf.MPIFailed
			if got := *ev.MPI.More; !reflect.DeepEqual(got, want) || ev.MPI.Made != made {
				t.Errorf("%s, flags %#x: %+v made %d, want %+v made %d", name, flags, got, ev.MPI.Made, want, made)
			}
		}
	}
}

// TestMatchedRows: what is read for the matching of calls is read of these operations only, and
// nothing more without it.
func TestMatchedRows(t *testing.T) {
	const all = bpf.MPIMatched | bpf.MPIBegun | bpf.MPIWaits | bpf.MPISome | bpf.MPIGroup | bpf.MPIMakesGroup | bpf.MPIMessage
	for _, arch := range []string{"amd64", "arm64"} {
		for i := range mpi.Operations {
			info := &mpi.Operations[i]
			plain, more := reading{arch: arch}, reading{arch: arch, matched: true}
			a, b := plain.of(info), more.of(info)
			if a.Flags&all != 0 || a.RecvTag != bpf.MPINoArg {
				t.Errorf("%s: %+v", info.Name, a)
			}
			want := map[string]uint32{"MPI_Wait": bpf.MPIWaits, "MPI_Waitall": bpf.MPIWaits, "MPI_Waitany": bpf.MPIWaits | bpf.MPISome, "MPI_Waitsome": bpf.MPIWaits | bpf.MPISome, "MPI_Irecv": bpf.MPIBegun, "MPI_Ibarrier": bpf.MPIBegun,
				"MPI_Isend_c": bpf.MPIBegun, "MPI_Send": 0, "MPI_Send_init": bpf.MPIBegun, "MPI_Comm_idup": bpf.MPIBegun, "MPI_Barrier": 0, "MPI_Sendrecv": 0,
				"MPI_Comm_group": bpf.MPIMakesGroup, "MPI_Group_union": bpf.MPIGroup | bpf.MPIMakesGroup, "MPI_Win_post": bpf.MPIGroup, "MPI_Win_complete": 0,
				"MPI_Mprobe": bpf.MPIMessage, "MPI_Improbe": bpf.MPIMessage, "MPI_Mrecv_c": bpf.MPIMessage, "MPI_Imrecv": bpf.MPIMessage | bpf.MPIBegun}
			if flags, ok := want[info.Name]; ok && b.Flags&^a.Flags&all != flags|bpf.MPIMatched {
				t.Errorf("%s: %#x", info.Name, b.Flags)
			}
			statuses, waits := map[string]uint8{"MPI_Wait": 1, "MPI_Waitall": 2, "MPI_Waitany": 3, "MPI_Waitsome": 4,
				"MPI_Mprobe": 3, "MPI_Improbe": 4, "MPI_Mrecv": 3, "MPI_Mrecv_c": 3, "MPI_Imrecv": 3, "MPI_Imrecv_c": 3}[info.Name]
			if !waits {
				statuses = bpf.MPINoArg
			}
			if a.Statuses != bpf.MPINoArg || b.Statuses != statuses {
				t.Errorf("%s: statuses %d, %d", info.Name, a.Statuses, b.Statuses)
			}
			if more.err != nil && plain.err == nil {
				t.Errorf("%s: %v", info.Name, more.err)
			}
		}
	}
}
