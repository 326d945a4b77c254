package ranks

import (
	"fmt"
	"slices"
	"testing"

	"ompp-attach/mpi/match"
)

// near are clocks of machines that can be compared, except with machine "far". They differ by 100
// ns, give or take 7.
type near struct{}

func (near) Comparable(a, b string) bool { return a != "far" && b != "far" }

func (near) Convert(_, _ string, t uint64) (at uint64, bound int64) { return t + 100, 7 }

// log returns the log of a rank of MPI_COMM_WORLD.
func log(rank, size int32, set ...func(*match.RankCalls)) *match.RankCalls {
	l := &match.RankCalls{Rank: int(rank), Comms: []match.Comm{{Name: "world", Size: size, Rank: rank}}}
	for _, f := range set {
		f(l)
	}
	return l
}

func on(host string) func(*match.RankCalls) { return func(l *match.RankCalls) { l.Host = host } }

func attached(l *match.RankCalls) { l.Attached = true }

func started(l *match.RankCalls) { l.Start.Known = true }

// TestLacks: operations of all members of a communicator are matched if three things hold: each
// member has a log, it is known where the logs begin, and times can be compared.
func TestLacks(t *testing.T) {
	for _, c := range []struct {
		name  string
		logs  []*match.RankCalls
		clock match.Clocks
		why   match.Reason
		lacks bool
	}{
		{"all there", []*match.RankCalls{log(0, 2), log(1, 2)}, nil, match.Unaligned, false},
		{"no log of a member", []*match.RankCalls{log(0, 2)}, nil, match.NoLog, true},
		{"two logs of a member", []*match.RankCalls{log(0, 2), log(1, 2), log(1, 2)}, nil, match.NoLog, true},
		{"attached", []*match.RankCalls{log(0, 2), log(1, 2, attached)}, nil, match.NoOrder, true},
		{"the first one attached", []*match.RankCalls{log(0, 2, attached), log(1, 2)}, nil, match.NoOrder, true},
		{"attached, with a known start", []*match.RankCalls{log(0, 2, attached, started), log(1, 2, attached, started)}, nil, match.Unaligned, false},
		{"attached, and no log of a member", []*match.RankCalls{log(1, 2, attached)}, nil, match.NoLog, true},
		{"another machine", []*match.RankCalls{log(0, 2), log(1, 2, on("b"))}, nil, match.Unaligned, true},
		{"attached on another machine", []*match.RankCalls{log(0, 2), log(1, 2, on("b"), attached)}, nil, match.NoOrder, true},
		{"another machine, compared", []*match.RankCalls{log(0, 2), log(1, 2, on("b"))}, near{}, match.Unaligned, false},
		{"another machine, not comparable", []*match.RankCalls{log(0, 3), log(1, 3, on("b")), log(2, 3, on("far"))}, near{}, match.Unaligned, true},
	} {
		a, clocks := Of(c.logs), NewClocks(c.clock, nil)
		for range 2 { // the second time, the kept answer counts
			if why, lacks := a.Ranks[0].World().Lacks(clocks); lacks != c.lacks || lacks && why != c.why {
				t.Errorf("%s: %v, %v", c.name, why, lacks)
			}
		}
	}
}

// TestGroups: communicators with the same name are one group. A communicator without a name, or
// with an impossible rank, is no group.
func TestGroups(t *testing.T) {
	comms := func(l *match.RankCalls) {
		l.Comms = append(l.Comms, match.Comm{Name: "half", Size: 2, Rank: 1 - int32(l.Rank), Old: l.Rank == 1}, match.Comm{Size: 2},
			match.Comm{Name: "below", Size: 2, Rank: -1}, match.Comm{Name: "above", Size: 2, Rank: 2}, match.Comm{Name: "none"})
	}
	a := Of([]*match.RankCalls{log(0, 2, comms), log(1, 2, comms), {Rank: 2, Attached: true}, {Rank: 3, Comms: []match.Comm{{}}}})
	first, second := a.Ranks[0], a.Ranks[1]
	for comm, want := range map[int]string{-1: "none", 0: "0 of 2 as 0, old: false", 1: "1 of 2 as 1, old: true", 2: "none", 3: "none", 4: "none", 5: "none", 6: "none"} {
		got := "none"
		if g, own, ok := first.In(&match.Call{Comm: comm}); ok {
			got = fmt.Sprintf("%d of %d as %d, old: %v", g.Index, g.Size, own, g.Old)
			if g.Members[own] != first || g.Members[1-own] != second || len(g.Members) != 2 || g.Doubted || a.Groups[g.Index] != g {
				t.Errorf("communicator %d: %+v", comm, g)
			}
		}
		if got != want {
			t.Errorf("communicator %d: %s, want %s", comm, got, want)
		}
	}
	groups := []*Group{first.World(), first.Comms[1], first.Init, first.Finalize}
	if !slices.Equal(groups, a.Groups) || second.Init != first.Init || second.Finalize != first.Finalize || len(first.Init.Members) != 2 || len(first.Finalize.Members) != 2 {
		t.Errorf("%d groups, of which rank 0 has %v", len(a.Groups), groups)
	}
	for i, k := range a.Ranks {
		if named := i < 2; (k.World() != nil) != named || (k.Init != nil) != named || k.Index != i || k.Call != -1 {
			t.Errorf("rank %d: %+v", i, k)
		}
	}
	if first.Unnamed() != match.NoComm || a.Ranks[2].Unnamed() != match.OldComm {
		t.Errorf("unnamed: %v, attached: %v", first.Unnamed(), a.Ranks[2].Unnamed())
	}
	if at := second.Place(&match.Call{Site: 5, Thread: 6}); at != (match.Place{Rank: 1, Site: 5, Thread: 6}) {
		t.Errorf("%+v", at)
	}
}

// TestClocks: times of one machine are exact. Times of other machines are as exact as the
// comparison of the clocks. Orders are told between different machines only.
func TestClocks(t *testing.T) {
	a := Of([]*match.RankCalls{log(0, 4, on("a")), log(1, 4, on("a")), log(2, 4, on("b")), log(3, 4, on("far"))})
	var told []string
	tell := func(first *match.RankCalls, at uint64, then *match.RankCalls, by uint64) {
		told = append(told, fmt.Sprintf("%d@%d<%d@%d", first.Rank, at, then.Rank, by))
	}
	clocks, own := NewClocks(near{}, tell), NewClocks(nil, nil)
	for _, c := range []struct {
		of                int
		alone, comparable bool
		seen, common      uint64
		bound             int64
	}{{0, true, true, 5, 5, 0}, {1, true, true, 5, 5, 0}, {2, false, true, 105, 105, 7}, {3, false, false, 105, 5, 7}} {
		of := a.Ranks[c.of]
		at, bound := clocks.Seen(a.Ranks[0], of, 5)
		if at != c.seen || bound != c.bound || clocks.Common(a.Ranks[0], of, 5) != c.common {
			t.Errorf("rank %d: 5 is %d +- %d, in common %d", c.of, at, bound, clocks.Common(a.Ranks[0], of, 5))
		}
		if clocks.Comparable(a.Ranks[0], of) != c.comparable || own.Comparable(a.Ranks[0], of) != c.alone || own.Common(a.Ranks[0], of, 5) != 5 {
			t.Errorf("rank %d: comparable %v, without clocks %v", c.of, clocks.Comparable(a.Ranks[0], of), own.Comparable(a.Ranks[0], of))
		}
		clocks.Tell(a.Ranks[0], 8, of, 9)
		own.Tell(a.Ranks[0], 8, of, 9) // without tell, this does nothing
	}
	if want := []string{"0@8<2@9", "0@8<3@9"}; !slices.Equal(told, want) || !clocks.Tells() || own.Tells() {
		t.Errorf("told %q, want %q", told, want)
	}
}
