package reader_test

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// BenchmarkRun matches the calls of 8 ranks. In each step, a rank sends to the next rank, receives
// from any source, waits for both, and takes part in a reduction.
func BenchmarkRun(b *testing.B) {
	const ranks, steps = 8, 5_000
	logs := make([][]match.Call, ranks)
	for rank := range logs {
		next, last := int32((rank+1)%ranks), int32((rank+ranks-1)%ranks)
		for i := range uint64(steps) {
			at := 40*i + uint64(rank)
			logs[rank] = append(logs[rank],
				call("Irecv", at, at+1, from(last, 1), as(1)),
				call("Isend", at+1, at+2, to(next, 1), as(2)),
				call("Irecv", at+2, at+3, from(mpi.AnySource, 2), as(3)),
				call("Send", at+3, at+4, to(next, 2)),
				call("Waitall", at+5, at+20, of(1, 2, 3), func(c *match.Call) { c.Came = []match.Came{came(2, last, 2)} }),
				call("Allreduce", at+21, at+30))
		}
		for i := range logs[rank] {
			logs[rank][i].Site %= 40
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		r := reader.Run(world(logs...))
		if n := r.Receives; n.Matched != 2*ranks*steps || r.Collectives.Matched != ranks*steps || r.Requests.Matched != ranks*steps {
			b.Fatalf("%+v", r)
		}
	}
}
