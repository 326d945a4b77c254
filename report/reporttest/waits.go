package reporttest

import (
	"time"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// Waiting returns the profiles of two ranks that were recorded with --waits. They meet at a
// barrier, which is over at 410 ms. Then rank 1 sends at 600 ms, in a user region, and rank 0
// receives from 500 ms to 650 ms. source is the sender that rank 0 asks for.
func Waiting(source int32) []*profile.Profile {
	return []*profile.Profile{
		waiting(0, &match.Call{Op: operation("MPI_Recv"), Start: 500e6, End: 650e6, From: source, Receives: true}, [2]uint64{100e6, 410e6}),
		waiting(1, &match.Call{Op: operation("MPI_Send"), Start: 600e6, End: 640e6, To: 0, Sends: true}, [2]uint64{400e6, 412e6}),
	}
}

func operation(name string) mpi.Op {
	op, ok := mpi.ParseOp(name)
	if !ok {
		panic(name)
	}
	return op
}

func waiting(rank int, message *match.Call, barrier [2]uint64) *profile.Profile {
	r := calllog.NewRecorder()
	r.Add(1, calllog.Site{Node: 1}, &match.Call{Op: operation("MPI_Barrier"), Start: barrier[0], End: barrier[1]})
	r.Add(1, calllog.Site{Node: 3}, message)
	stats := func(t uint64) []profile.ThreadStats {
		s := profile.Sum{T: int64(t), C: 1}
		return []profile.ThreadStats{{Exec: s, Body: s, MPI: &profile.MPIStats{T: int64(t), Calls: 1}}}
	}
	at := func(line int) profile.Location { return profile.Location{File: "a.c", Begin: line, End: line} }
	calls := int64(barrier[1] - barrier[0] + message.End - message.Start)
	exchange := stats(message.End - message.Start + 10e6)
	exchange[0].Child, exchange[0].MPI = int64(message.End-message.Start), nil
	return &profile.Profile{Version: profile.SchemaVersion,
		Meta: profile.Meta{Target: profile.Target{Program: "waiting", PID: 10 + rank}, Machine: profile.Machine{Host: "node1"},
			Life: profile.Life{Start: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), Duration: 1e9, Ended: "exit 0"},
			MPI:  &profile.MPIJob{Rank: rank, Size: 2, Library: "MPI"}},
		Threads: []profile.Thread{{}},
		Regions: []profile.Region{{Construct: event.MPI, Name: "MPI_Barrier", Location: at(3)},
			{Construct: event.UserRegion, Name: "exchange", Location: profile.Location{File: "a.c", Begin: 4, End: 9}},
			{Construct: event.MPI, Name: message.Op.String(), Location: at(5 + rank)}},
		Nodes: []profile.Node{{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{MPI: &profile.MPIStats{T: calls, Calls: 2}}}},
			{Region: 0, Stats: stats(barrier[1] - barrier[0])}, {Region: 1, Stats: exchange}, {Parent: 2, Region: 2, Stats: stats(message.End - message.Start)}},
		Calls: &r.Log}
}
