package perfetto

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	construct "ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// ofRank returns the timeline of a rank of two, with nodes for a send, a receive and a lock.
func ofRank(t *testing.T, rank int, spans ...timeline.Span) *timeline.File {
	t.Helper()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 1 << 26}, PID: 77 + rank, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range spans {
		rec.Span(&spans[i])
	}
	at := func(c construct.Construct, name string, line int) profile.Region {
		return profile.Region{Construct: c, Name: name, Location: profile.Location{File: "a.c", Begin: line}}
	}
	rec.End(&timeline.Dictionary{
		Meta:    profile.Meta{Target: profile.Target{Program: "a.out"}, MPI: &profile.MPIJob{Rank: rank, Size: 2}},
		Regions: []profile.Region{at(construct.MPI, "MPI_Send", 1), at(construct.MPI, "MPI_Recv", 2), at(construct.Lock, "", 3)},
		Nodes:   []timeline.Node{{Parent: -1, Region: -1}, {Region: 0}, {Region: 1}, {Region: 2}},
		Threads: []profile.Thread{{Num: rank}},
		NodeOf:  []int32{0, 1, 2, 3}, SeatOf: []int32{0},
	})
	var b bytes.Buffer
	if err := rec.Save(&b); err != nil {
		t.Fatal(err)
	}
	f, err := timeline.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFlows(t *testing.T) {
	call := func(node int32, from, to uint64, peer int32) timeline.Span {
		s := ran(node, from, to)
		s.Kind, s.Call = timeline.Call, timeline.MPI{Comm: 1, Flags: mpi.World, Peer: peer, Out: 8, In: 8}
		return s
	}
	lock := func(tid uint32, from, got, freed, to uint64) timeline.Span {
		s := ran(3, from, to)
		s.TID, s.Lock = tid, 9
		s.Parts[timeline.Enter].T, s.Parts[timeline.Body].T, s.Parts[timeline.Exit].T = int64(got-from), int64(freed-got), int64(to-freed)
		return s
	}
	// The receive begins before its send. The last receive has no send, the last send no receive.
	sender := ofRank(t, 0, call(1, 100, 110, 1), call(1, 200, 210, 1))
	receiver := ofRank(t, 1, call(2, 90, 120, 0), call(2, 130, 140, 1), lock(5, 300, 301, 320, 322), lock(6, 310, 325, 330, 331))
	var b bytes.Buffer
	without, err := Write(&b, []*timeline.File{sender, receiver}, func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) })
	if err != nil || len(without) > 0 {
		t.Fatal(without, err)
	}
	const rank0, rank1 = "OpenMP thread 0: ", "OpenMP thread 1: "
	want := []string{
		rank0 + "100 MPI_Send a.c (1) flow_ids 0x8000000000000002",
		rank0 + "110 end",
		rank0 + "200 MPI_Send a.c (1)",
		rank0 + "210 end",
		rank1 + "90 MPI_Recv a.c (2)",
		rank1 + "120   has received a message (moment) terminating_flow_ids 0x8000000000000002",
		rank1 + "120 end",
		rank1 + "130 MPI_Recv a.c (2)",
		rank1 + "140 end",
		rank1 + "300 LOCK a.c (3)",
		rank1 + "300   waits to enter",
		rank1 + "301   end",
		rank1 + "320   frees a lock that another thread waits for (moment) flow_ids 0x8000000000000001",
		rank1 + "320   leaves",
		rank1 + "322   end",
		rank1 + "322 end",
		rank1 + "310 LOCK a.c (3)",
		rank1 + "310   waits to enter",
		rank1 + "325     gets the lock (moment) terminating_flow_ids 0x8000000000000001",
		rank1 + "325   end",
		rank1 + "330   leaves",
		rank1 + "331   end",
		rank1 + "331 end",
	}
	if d := cmp.Diff(want, decode(t, b.Bytes())); d != "" {
		t.Error(d)
	}
}
