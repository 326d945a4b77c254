package comms

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// testComm is a communicator of a rank: the operation that made it, the operation's argument, and
// the rank in the communicator.
type testComm struct {
	parent, order int
	by            string
	decides       int32
	size, rank    int32
}

// inComms returns the profile of a rank with communicators.
func inComms(t *testing.T, rank, size int, list ...testComm) *profile.Profile {
	t.Helper()
	p := &profile.Profile{Comms: []profile.Comm{{Parent: -1}}}
	p.Meta.MPI = &profile.MPIJob{Rank: rank, Size: size}
	for _, c := range list {
		op, ok := mpi.ParseOp(c.by)
		if !ok {
			t.Fatal(c.by)
		}
		p.Comms = append(p.Comms, profile.Comm{Parent: c.parent, By: &op, Order: c.order, Decides: c.decides, Size: c.size, Rank: c.rank})
	}
	return p
}

// joined returns the communicators of ranks, whose profiles state the job's size.
func joined(profiles ...*profile.Profile) (ranks []*Rank, groups Groups) {
	for _, p := range profiles {
		r := Of(p, p.Meta.MPI.Rank)
		ranks = append(ranks, &r)
	}
	return ranks, Join(ranks, len(ranks) == profiles[0].Meta.MPI.Size)
}

// worldRanks returns, for each rank, the rank in MPI_COMM_WORLD of the next rank in a communicator;
// -1: it is not known.
func worldRanks(t *testing.T, comm int, profiles ...*profile.Profile) (out []int) {
	t.Helper()
	ranks, groups := joined(profiles...)
	for _, r := range ranks {
		c := r.List[comm]
		world, ok := groups.WorldRank(r, comm, (c.Rank+1)%max(1, c.Size))
		if !ok {
			world = -1
		}
		out = append(out, world)
	}
	return out
}

func all(t *testing.T, size int, of func(rank int) []testComm) (out []*profile.Profile) {
	for r := range size {
		out = append(out, inComms(t, r, size, of(r)...))
	}
	return out
}

func sameRanks(t *testing.T, got []int, want ...int) {
	t.Helper()
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("the next rank in the communicator is %v, want %v", got, want)
		}
	}
}

// halves splits the processes into even and odd ones, in reverse order.
func halves(r int) []testComm {
	return []testComm{{0, 1, "MPI_Comm_split", int32(r % 2), 2, int32(1 - r/2)}}
}

func TestSplitsOverRanks(t *testing.T) {
	ranks := all(t, 4, halves)
	sameRanks(t, worldRanks(t, 1, ranks...), 2, 3, 0, 1)
	// Without rank 0, the others' own profiles still tell their ranks.
	some, groups := joined(ranks[1:]...)
	if world, ok := groups.WorldRank(some[0], 1, 0); !ok || world != 3 {
		t.Errorf("of rank 1: %d, %v, want 3", world, ok)
	}
	if world, ok := groups.WorldRank(some[1], 1, 1); ok {
		t.Errorf("rank 0 was not read, and is rank %d", world)
	}
}

// A communicator is unknown if its members contradict each other, or if calls may not have been
// seen.
func TestDoubtfulCommunicators(t *testing.T) {
	ranks := all(t, 4, halves)
	ranks[2].Comms[1].Rank = 1 // rank 0 has this rank, too
	sameRanks(t, worldRanks(t, 1, ranks...), -1, 3, -1, 1)
	ranks = all(t, 4, halves)
	ranks[1].Comms[1].Size = 3
	sameRanks(t, worldRanks(t, 1, ranks...), 2, -1, 0, -1)
	for _, unsure := range []func(*profile.Meta){
		func(m *profile.Meta) { m.Attached = true }, func(m *profile.Meta) { m.LostHits = 1 }, func(m *profile.Meta) { m.Off.C = 1 },
	} {
		ranks = all(t, 4, halves)
		unsure(&ranks[0].Meta)
		sameRanks(t, worldRanks(t, 1, ranks...), -1, 3, -1, 1)
		sameRanks(t, worldRanks(t, 0, ranks...), 0, 0, 0, 0)
	}
	sameRanks(t, worldRanks(t, 1, all(t, 4, func(r int) []testComm {
		return []testComm{{0, 0, "MPI_Comm_create_group", 0, 2, int32(r % 2)}}
	})...), -1, -1, -1, -1)
}

// A grid of 2 x 3, its rows and columns, and a copy of these.
func TestGridsOverRanks(t *testing.T) {
	grid := func(r int) []testComm {
		return []testComm{{0, 1, "MPI_Cart_create", 0, 6, int32(r)}, {1, 1, "MPI_Cart_sub", 0, 3, int32(r % 3)},
			{1, 2, "MPI_Cart_sub", 0, 2, int32(r / 3)}, {3, 1, "MPI_Comm_dup", 0, 2, int32(r / 3)}}
	}
	ranks := all(t, 6, grid)
	sameRanks(t, worldRanks(t, 2, ranks...), 1, 2, 0, 4, 5, 3)
	sameRanks(t, worldRanks(t, 3, ranks...), 3, 4, 5, 0, 1, 2)
	sameRanks(t, worldRanks(t, 4, ranks...), 3, 4, 5, 0, 1, 2)
	// Not without all ranks: the profile of rank 0 would fit a line of 6, too.
	some, groups := joined(ranks[:5]...)
	if world, ok := groups.WorldRank(some[0], 2, 1); ok {
		t.Errorf("known without rank 5: %d", world)
	}
	// A grid of 2 x 3 x 2 without the middle dimension has no such order.
	ranks = all(t, 12, func(r int) []testComm {
		return []testComm{{0, 1, "MPI_Cart_sub", 0, 4, int32(r/6*2 + r%2)}}
	})
	for _, world := range worldRanks(t, 1, ranks...) {
		if world >= 0 {
			t.Fatalf("a grid's parts that cannot be told apart: rank %d", world)
		}
	}
}
