package recorded_test

import (
	"path/filepath"
	"testing"

	"ompp-attach/attribution/streamtest"
	"ompp-attach/event"
	"ompp-attach/hiera"
	"ompp-attach/hiera/recorded"
	"ompp-attach/profile"
)

// Of every recorded stream, the operations in all levels are the executions in the profile, and the
// exclusive times those of its nodes.
func TestStreams(t *testing.T) {
	names, err := filepath.Glob("../../testdata/streams/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range names {
		p := streamtest.Replay(t, name)
		tally := recorded.Tally(p, 3)
		executions, exclusive, deepest := uint64(0), int64(0), 0
		depth := make([]int, len(p.Nodes))
		for i := 1; i < len(p.Nodes); i++ {
			depth[i] = depth[p.Nodes[i].Parent] + 1
			for _, s := range p.Nodes[i].Stats {
				executions += s.Exec.C
				exclusive += max(0, s.Exec.T-s.Child)
				if s.Exec.C > 0 {
					deepest = max(deepest, depth[i])
				}
			}
		}
		own := int64(0)
		for _, ns := range tally.Exclusive {
			own += ns
		}
		sum := uint64(0)
		for _, f := range tally.Places {
			sum += f.Count
		}
		if tally.Operations() != executions || sum != executions || own != exclusive || len(tally.Levels) < deepest || executions == 0 {
			t.Errorf("%s: %d operations, %d at call sites, want %d; %d ns exclusive, want %d; %d levels, want %d",
				name, tally.Operations(), sum, executions, own, exclusive, len(tally.Levels), deepest)
		}
		if tally.Rank != 3 || tally.Total() != p.Meta.Duration {
			t.Errorf("%s: %+v", name, tally.Process)
		}
	}
}

// Of four threads of a process, two call MPI. One of them belongs to the team of an initial thread
// that lived for a tenth of the time. Both threads' times are the whole, not twice the process's.
func TestCommunicatingThreads(t *testing.T) {
	calls := func(thread int, ns int64) profile.ThreadStats {
		return profile.ThreadStats{Thread: thread, MPI: &profile.MPIStats{Calls: 1, T: ns}}
	}
	p := &profile.Profile{Meta: profile.Meta{Life: profile.Life{Duration: 1000}},
		Threads: []profile.Thread{{}, {Num: 1}, {Root: 1, Lived: 100}, {Root: 1, Num: 1}},
		Nodes:   []profile.Node{{Parent: -1, Region: -1, Stats: []profile.ThreadStats{calls(0, 50), calls(3, 5)}}}}
	tally := recorded.Tally(p, 0)
	if tally.Threads != 4 || tally.Communicating != 2 || tally.Communication != 55 || tally.Shared() != 1100 {
		t.Errorf("%d threads, %d in MPI for %d of %d ns", tally.Threads, tally.Communicating, tally.Communication, tally.Shared())
	}
	p.Threads[2].Joined = 3 // initial threads that share a row; their workers do so, too
	if tally = recorded.Tally(p, 0); tally.Communicating != 4 || tally.Threads != 8 {
		t.Errorf("three initial threads in a row: %d threads, %d in MPI", tally.Threads, tally.Communicating)
	}
	// A thread called MPI before its number was known, and later. It is one thread.
	p.Threads, p.Nodes[0].Stats = []profile.Thread{{Num: profile.UnknownNum}, {}}, []profile.ThreadStats{calls(0, 50), calls(1, 5)}
	if tally = recorded.Tally(p, 0); tally.Communicating != 1 || tally.Communication != 55 {
		t.Errorf("a thread with two rows: %d threads in MPI for %d ns", tally.Communicating, tally.Communication)
	}
	p.Nodes[0].Stats = p.Nodes[0].Stats[:1]
	if tally = recorded.Tally(p, 0); tally.Communicating != 1 {
		t.Errorf("a thread without a number: %d threads in MPI", tally.Communicating)
	}
	p.Nodes[0].Stats = nil
	if tally = recorded.Tally(p, 0); tally.Communicating != 0 || tally.Shared() != 1000 {
		t.Errorf("without MPI: %d threads, %d ns", tally.Communicating, tally.Shared())
	}
}

func TestOp(t *testing.T) {
	for _, c := range []struct {
		region                      profile.Region
		category, class, name, file string
		line                        int
	}{
		{profile.Region{Construct: event.MPI, Name: "MPI_Bcast", Location: profile.Location{File: "/a/b.c", Begin: 7}}, "mpi", "", "broadcast", "/a/b.c", 7},
		{profile.Region{Construct: event.UserRegion, Name: "ns::Eig<a::b>::solve(x::y)", Level: "eigen", Location: profile.Location{Function: "f", Object: "/lib/libe.so"}},
			"eigen", "ns::Eig<a::b>", "solve(x::y)", "f", 0},
		{profile.Region{Construct: event.UserRegion, Name: "pdgesv_", Location: profile.Location{Object: "/lib/libe.so"}}, "user", "", "pdgesv_", "libe.so", 0},
		{profile.Region{Construct: event.Critical, Name: "lock"}, "omp", "", "CRITICAL", ".", 0},
	} {
		op := recorded.Op(&c.region)
		if op.Category != c.category || op.Class != c.class || op.Name != c.name || op.File != c.file || op.Line != c.line {
			t.Errorf("%+v: %+v", c.region, op)
		}
	}
}

func TestPartners(t *testing.T) {
	tally := hiera.NewTally(hiera.Process{Rank: 1})
	recorded.AddPartners(tally, []recorded.Partner{
		{Rank: 0, World: 1, Exchange: profile.Exchange{Sends: 9}},
		{Rank: 1, World: 0, Exchange: profile.Exchange{Sends: 2, Out: 10, Recvs: 3, In: 20}},
		{Rank: 1, World: -1, Exchange: profile.Exchange{Recvs: 4}},
	})
	s := hiera.Statistics{Processes: []*hiera.Tally{tally}}
	pairs := s.Pairs()
	if len(pairs) != 3 || pairs[0].From != hiera.Elsewhere || pairs[0].Received.Messages != 4 || pairs[1].Received.Bytes != 20 || pairs[2].Sent.Messages != 2 {
		t.Errorf("%+v", pairs)
	}
}
