package calllog

import (
	"syscall"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// ring returns the logs of ranks. In each step, the ranks exchange messages with their neighbours,
// and then all reduce. In each step another rank is 1000 ns late, so its neighbour is late at the
// reduction.
func ring(t testing.TB, ranks, steps int) (logs []*Log, calls int) {
	op := func(name string) mpi.Op {
		o, ok := mpi.ParseOp(name)
		if !ok {
			t.Fatal(name)
		}
		return o
	}
	irecv, isend, waitall, allreduce := op("MPI_Irecv"), op("MPI_Isend"), op("MPI_Waitall"), op("MPI_Allreduce")
	for rank := range ranks {
		r := NewRecorder()
		add := func(node int, c match.Call) {
			r.Add(1, Site{Node: node}, &c)
			calls++
		}
		left, right := int32(rank+ranks-1)%int32(ranks), int32(rank+1)%int32(ranks)
		for step := range steps {
			begin := uint64(1e9 + 5000*step)
			at, sent := begin, begin+10
			switch late := step % ranks; {
			case rank == late:
				at += 1000
			case int(left) == late:
				sent += 1000
			}
			add(1, match.Call{Op: irecv, Start: at, End: at + 5, From: left, RecvTag: 7, To: mpi.NoPeer, Receives: true, Later: true, Request: 1})
			add(2, match.Call{Op: isend, Start: at + 10, End: at + 15, To: right, SendTag: 7, From: mpi.NoPeer, Sends: true, Later: true, Request: 2})
			there := max(at+25, sent+30)
			add(3, match.Call{Op: waitall, Start: at + 20, End: there, Completes: []uint64{1, 2}})
			add(4, match.Call{Op: allreduce, Start: there + 10, End: begin + 1060, Sends: true, Receives: true})
		}
		logs = append(logs, &r.Log)
	}
	return logs, calls
}

// matched matches recorded calls on MPI_COMM_WORLD.
func matched(logs []*Log) *match.Result {
	var all []*match.RankCalls
	for rank, l := range logs {
		all = append(all, &match.RankCalls{Rank: rank, Comms: []match.Comm{{Name: "world", Size: int32(len(logs)), Rank: int32(rank)}}, Threads: []match.Calls{l.Reader(0)}})
	}
	return reader.Run(all)
}

// TestManyRanks: of 256 ranks, the waits are found that follow from the times of their calls.
func TestManyRanks(t *testing.T) {
	const ranks, steps = 256, 20
	logs, _ := ring(t, ranks, steps)
	r := matched(logs)
	sum := map[match.Property]match.Wait{}
	for _, w := range r.Waits {
		s := sum[w.Property]
		s.T, s.Count = s.T+w.T, s.Count+w.Count
		sum[w.Property] = s
		if late := (w.Due.Rank + ranks - 1) % ranks; w.Property == match.WaitAtNxN && late >= steps {
			t.Errorf("%+v: that rank was never last", w)
		}
	}
	if got := sum[match.LateSender]; got.T != 990*steps || got.Count != steps {
		t.Errorf("late senders: %+v", got)
	}
	if got := sum[match.WaitAtNxN]; got.T != steps*((ranks-2)*1000+15) || got.Count != steps*(ranks-1) {
		t.Errorf("waits at reductions: %+v", got)
	}
	for _, n := range []match.Count{r.Sends, r.Receives, r.Collectives, r.Requests} {
		if n.Calls != ranks*steps || n.Matched != n.Calls {
			t.Errorf("%+v", r)
		}
	}
}

// BenchmarkManyRanks matches the calls of 256 ranks, as they were recorded.
func BenchmarkManyRanks(b *testing.B) {
	logs, calls := ring(b, 256, 500)
	size := 0
	for _, l := range logs {
		size += len(l.Threads[0])
	}
	perCall(b, func() int { matched(logs); return calls })
	b.ReportMetric(float64(size)/float64(calls), "bytes/call")
}

// BenchmarkRecord records the calls of a rank.
func BenchmarkRecord(b *testing.B) {
	perCall(b, func() int { _, calls := ring(b, 1, 10_000); return calls })
}

// perCall reports the processor time per MPI call. do returns the number of calls.
func perCall(b *testing.B, do func() int) {
	used := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	calls, before := 0, used()
	for b.Loop() {
		calls += do()
	}
	b.ReportMetric(float64(used()-before)/float64(calls), "cpu-ns/call")
}
