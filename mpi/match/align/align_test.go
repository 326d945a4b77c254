package align_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/align"
)

// bars returns a rank's calls of MPI_Barrier, by their beginnings and ends.
func bars(times ...uint64) (out []match.Call) {
	for i := 0; i < len(times); i += 2 {
		out = append(out, call("Barrier", times[i], times[i+1]))
	}
	return out
}

// TestAlign: logs are put side by side if exactly one way is possible.
func TestAlign(t *testing.T) {
	const no = -1
	is := func(name string, start, end uint64, set ...func(*match.Call)) match.Call {
		return call(name, start, end, set...)
	}
	for _, c := range []struct {
		name  string
		ranks [][]match.Call
		first []int // of each rank; no: not known
	}{
		{"together", [][]match.Call{bars(10, 20, 30, 40, 50, 60), bars(15, 21, 35, 41, 55, 61)}, []int{0, 0}},
		{"rank 1 later", [][]match.Call{bars(10, 20, 30, 40, 50, 60, 70, 80), bars(35, 41, 55, 61, 75, 81)}, []int{0, 1}},
		{"rank 0 later, three ranks", [][]match.Call{bars(50, 60, 70, 80, 90, 99), bars(15, 21, 35, 41, 55, 61, 75, 81, 95, 99), bars(31, 42, 52, 62, 72, 82, 92, 99)}, []int{2, 0, 1}},
		{"under way at rank 1's attachment", [][]match.Call{bars(30, 40, 50, 60, 70, 80), bars(52, 61, 72, 81)}, []int{0, 1}},
		// Rank 1 may have been in its first call since before the attachment, and then in one that
		// rank 0 did not end.
		{"one call each", [][]match.Call{bars(10, 20), bars(15, 21)}, []int{no, no}},
		{"each is in the next call before the other one has left", [][]match.Call{bars(10, 20, 21, 30, 31, 40), bars(9, 15, 16, 25, 26, 35)}, []int{no, no}},
		{"the same, until once it was not", [][]match.Call{bars(10, 20, 21, 30, 31, 40, 80, 90), bars(9, 15, 16, 25, 26, 35, 80, 91)}, []int{0, 0}},
		{"no order follows from broadcasts of one root", [][]match.Call{{is("Bcast", 10, 11, root(0)), is("Bcast", 30, 31, root(0)), is("Bcast", 50, 51, root(0))},
			{is("Bcast", 60, 61, root(0)), is("Bcast", 70, 71, root(0)), is("Bcast", 80, 81, root(0))}}, []int{no, no}},
		{"reductions without data wait for nobody", [][]match.Call{{is("Allreduce", 10, 20, nothing), is("Allreduce", 30, 40, nothing), is("Allreduce", 50, 60, nothing)},
			{is("Allreduce", 11, 21, nothing), is("Allreduce", 31, 41, nothing), is("Allreduce", 51, 61, nothing)}}, []int{no, no}},
		{"alltoallv may be with some ranks only", [][]match.Call{{is("Alltoallv", 10, 20), is("Alltoallv", 30, 40), is("Alltoallv", 50, 60)},
			{is("Alltoallv", 11, 21), is("Alltoallv", 31, 41), is("Alltoallv", 51, 61)}}, []int{no, no}},
		{"roots in turns", [][]match.Call{{is("Bcast", 10, 11, root(0)), is("Bcast", 12, 32, root(1)), is("Bcast", 40, 41, root(0)), is("Bcast", 42, 62, root(1)), is("Bcast", 70, 71, root(0)), is("Bcast", 72, 92, root(1))},
			{is("Bcast", 30, 31, root(1)), is("Bcast", 32, 42, root(0)), is("Bcast", 60, 61, root(1)), is("Bcast", 62, 73, root(0)), is("Bcast", 90, 91, root(1))}}, []int{0, 1}},
		{"what is called decides", [][]match.Call{{is("Barrier", 10, 20), is("Allreduce", 21, 30), is("Barrier", 31, 40), is("Barrier", 41, 50)},
			{is("Barrier", 12, 15), is("Allreduce", 16, 25), is("Barrier", 26, 35), is("Barrier", 36, 45)}}, []int{0, 0}},
		{"nothing fits", [][]match.Call{{is("Barrier", 10, 20), is("Allreduce", 30, 40), is("Barrier", 50, 60)}, {is("Barrier", 11, 21), is("Barrier", 31, 41), is("Barrier", 51, 61)}}, []int{no, no}},
		{"one rank was measured before the other", [][]match.Call{bars(10, 20, 30, 40, 50, 60), bars(115, 121, 135, 141)}, []int{no, no}},
		{"a rank without calls", [][]match.Call{bars(10, 20, 30, 40, 50, 60), bars(15, 21, 35, 41, 55, 61), nil}, []int{0, 0, no}},
		{"on another communicator", [][]match.Call{bars(10, 20, 30, 40, 50, 60), append([]match.Call{call("Barrier", 5, 6, comm(-1))}, bars(15, 21, 35, 41, 55, 61)...)}, []int{0, 0}},
		// Nothing comes before MPI_Init, and nothing after MPI_Finalize.
		{"measured to the end", [][]match.Call{{is("Bcast", 10, 11, root(0)), is("Bcast", 30, 31, root(0)), is("Bcast", 50, 51, root(0)), is("Finalize", 90, 91)},
			{is("Bcast", 50, 61, root(0)), is("Bcast", 70, 71, root(0)), is("Finalize", 90, 91)}}, []int{0, 1}},
		{"measured from the beginning", [][]match.Call{{is("Init", 1, 2), is("Bcast", 10, 11, root(0)), is("Bcast", 30, 31, root(0)), is("Bcast", 80, 81, root(0))},
			{is("Init_thread", 1, 2), is("Bcast", 60, 61, root(0)), is("Bcast", 70, 71, root(0)), is("Bcast", 80, 81, root(0))}}, []int{0, 0}},
		{"one from the beginning, the other one to the end", [][]match.Call{{is("Init", 1, 2), is("Bcast", 10, 11, root(0)), is("Bcast", 50, 51, root(0))},
			{is("Bcast", 52, 53, root(0)), is("Bcast", 60, 61, root(0)), is("Finalize", 90, 91)}}, []int{no, no}},
		{"another program than the times allow", [][]match.Call{{is("Barrier", 10, 11), is("Barrier", 30, 31), is("Finalize", 90, 91)},
			{is("Barrier", 60, 61), is("Barrier", 70, 71), is("Finalize", 90, 91)}}, []int{no, no}},
		// The last call of a rank may have been under way when the measurement ended.
		{"cut off", [][]match.Call{bars(10, 20, 30, 40, 50, 52), bars(15, 21, 35, 41, 55, 56)}, []int{0, 0}},
	} {
		var got []int
		for _, s := range align.Starts(anew(c.ranks...), nil) {
			if got = append(got, no); s.Known {
				got[len(got)-1] = int(s.First)
			}
		}
		if !slices.Equal(got, c.first) {
			t.Errorf("%s: %v, not %v", c.name, got, c.first)
		}
	}
}

// TestAlignMakings: calls that make communicators are a part of the order, and are numbered.
func TestAlignMakings(t *testing.T) {
	dup, split := op("Comm_dup"), op("Comm_split")
	logs := func() []*match.RankCalls {
		logs := anew(bars(10, 20, 30, 40, 50, 60, 70, 80), bars(35, 41, 55, 61, 75, 81))()
		logs[0].Makings = []match.Making{{Op: dup, End: 25_000}, {Op: dup, End: 45_000}, {Op: split, End: 65_000}}
		logs[1].Makings = []match.Making{{Op: dup, End: 46_000}, {Op: split, End: 66_000}}
		return logs
	}
	if got, want := align.Starts(logs, nil), []match.Start{{Known: true, First: 0, Makings: 0}, {Known: true, First: 1, Makings: 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	wrong := func() []*match.RankCalls {
		logs := logs()
		logs[1].Makings[0].Op = split
		return logs
	}
	if got := align.Starts(wrong, nil); got[1].Known {
		t.Errorf("ranks made different communicators: %v", got)
	}
	cut := func() []*match.RankCalls { // of rank 0, only the first of these calls is known
		logs := logs()
		logs[0].Makings, logs[0].MakingsUntil = logs[0].Makings[:1], 45_000
		return logs
	}
	if got := align.Starts(cut, nil); got[1].Known {
		t.Errorf("one call is no proof: %v", got)
	}
}

// TestAlignLosses: operations after a loss are not put in order. Communicators that were made after
// the loss are still known.
func TestAlignLosses(t *testing.T) {
	dup := op("Comm_dup")
	of := func(until uint64) func() []*match.RankCalls {
		return func() []*match.RankCalls {
			// Rank 0 makes a communicator before its third barrier, and rank 1 after its first one
			// that is seen.
			logs := anew(bars(10, 20, 30, 40, 50, 60), bars(15, 21, 35, 41, 55, 61))()
			logs[0].Makings, logs[1].Makings = []match.Making{{Op: dup, End: 45_000}}, []match.Making{{Op: dup, End: 46_000}}
			logs[0].Until = until
			return logs
		}
	}
	for until, known := range map[uint64]bool{0: true, 50_000: true, 30_000: false} {
		if got := align.Starts(of(until), nil); got[0].Known != known || got[1].Known != known {
			t.Errorf("until %d: %+v", until, got)
		}
	}
	// Rank 0 lost the records of the third to the fifth operation. The communicators that were made
	// meanwhile are known.
	lossy := func() []*match.RankCalls {
		logs := anew(bars(10, 20, 30, 40), bars(15, 21, 35, 41, 50, 60, 70, 75, 80, 85))()
		logs[0].Makings, logs[1].Makings = []match.Making{{Op: dup, End: 90_000}}, []match.Making{{Op: dup, End: 90_000}}
		logs[0].Until = 41_000
		return logs
	}
	if got, want := align.Starts(lossy, nil), []match.Start{{Known: true}, {Known: true}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestAlignLaunched: the log of a launched rank begins with the first operation of all. If it
// cannot be put in order with logs of attached ranks, no log is.
func TestAlignLaunched(t *testing.T) {
	of := func(launched []match.Call, ranks ...[]match.Call) func() []*match.RankCalls {
		return func() []*match.RankCalls {
			logs := anew(append([][]match.Call{launched}, ranks...)...)()
			logs[0].Attached, logs[0].Comms[0].Old = false, false
			return logs
		}
	}
	joined := [][]match.Call{bars(35, 41, 55, 61, 75, 81), bars(50, 60, 70, 80)}
	if got, want := align.Starts(of(bars(10, 20, 30, 40, 51, 60, 71, 80), joined...), nil), []match.Start{{Known: true, First: 0, Makings: 0}, {Known: true, First: 1, Makings: 0}, {Known: true, First: 2, Makings: 0}}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	for _, launched := range [][]match.Call{nil, bars(10, 20)} {
		if got := align.Starts(of(launched, joined...), nil); slices.ContainsFunc(got, func(s match.Start) bool { return s.Known }) {
			t.Errorf("with %d calls of the rank that was launched: %v", len(launched), got)
		}
	}
}

// TestAlignToTheEnd: ranks that were attached to at any moments, and measured to the end, are put
// in order whatever they call.
func TestAlignToTheEnd(t *testing.T) {
	at := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		var ranks [][]match.Call
		var firsts []int
		total := 1 + at.IntN(20)
		for range 2 + at.IntN(3) {
			first := at.IntN(total)
			var calls []match.Call
			for i := range total {
				if i >= first {
					calls = append(calls, call("Bcast", uint64(100*i+at.IntN(100)), uint64(100*i+100), root(0)))
				}
			}
			ranks, firsts = append(ranks, append(calls, call("Finalize", uint64(100*total+1), uint64(100*total+2)))), append(firsts, first)
		}
		for rank, s := range align.Starts(anew(ranks...), nil) {
			if want := firsts[rank] - slices.Min(firsts); !s.Known || int(s.First) != want {
				t.Fatalf("program %d: rank %d begins with %+v, not %d of %d", n, rank, s, want, total)
			}
		}
	}
}
