package job

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// comm is a communicator of a rank: how it was made, with which argument, and the rank in it.
type testComm struct {
	parent, order int
	by            string
	decides       int32
	size, rank    int32
}

// inComms returns a rank with communicators, and one partner in each: the next rank.
func inComms(t *testing.T, rank, size int, list ...testComm) *profile.Profile {
	t.Helper()
	p := toy(rank, size, 0, 0)
	p.Comms = []profile.Comm{{Parent: -1}}
	var traffic profile.Traffic
	traffic.Add(0, int32((rank+1)%size), profile.Exchange{Sends: 1, Out: 10})
	for i, c := range list {
		op, ok := mpi.ParseOp(c.by)
		if !ok {
			t.Fatal(c.by)
		}
		p.Comms = append(p.Comms, profile.Comm{Parent: c.parent, By: &op, Order: c.order, Decides: c.decides, Size: c.size, Rank: c.rank})
		if c.size > 0 {
			traffic.Add(i+1, (c.rank+1)%c.size, profile.Exchange{Sends: 1, Out: uint64(100 * (i + 1))})
		}
	}
	p.Nodes[4].Stats[0].Traffic = &traffic
	return p
}

func worldRanks(t *testing.T, comm int, ranks ...*profile.Profile) (out []int) {
	t.Helper()
	j := readAll(t, Options{}, ranks...)
	for i := range j.Ranks {
		c := ranks[i].Comms[comm]
		world, ok := j.WorldRank(i, comm, (c.Rank+1)%max(1, c.Size))
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
	// Without rank 0, it is known of the others what they say themselves.
	j := readAll(t, Options{}, ranks[1:]...)
	if world, ok := j.WorldRank(0, 1, 0); !ok || world != 3 {
		t.Errorf("of rank 1: %d, %v, want 3", world, ok)
	}
	if world, ok := j.WorldRank(1, 1, 1); ok {
		t.Errorf("rank 0 was not read, and is rank %d", world)
	}
}

// Members that contradict each other make a communicator unknown, and so do calls that may not have
// been seen.
func TestDoubtfulCommunicators(t *testing.T) {
	ranks := all(t, 4, halves)
	ranks[2].Comms[1].Rank = 1 // rank 0 has it, too
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
	// Not without all ranks: rank 0's grid alone would do for a line of 6, too.
	j := readAll(t, Options{}, ranks[:5]...)
	if world, ok := j.WorldRank(0, 2, 1); ok {
		t.Errorf("known without rank 5: %d", world)
	}
	// What is left of 2 x 3 x 2 without the middle is in no such order.
	ranks = all(t, 12, func(r int) []testComm {
		return []testComm{{0, 1, "MPI_Cart_sub", 0, 4, int32(r/6*2 + r%2)}}
	})
	for _, world := range worldRanks(t, 1, ranks...) {
		if world >= 0 {
			t.Fatalf("a grid's parts that cannot be told apart: rank %d", world)
		}
	}
}

// Links are by ranks in MPI_COMM_WORLD.
func TestLinks(t *testing.T) {
	ranks := all(t, 4, func(r int) []testComm {
		return append(halves(r), testComm{0, 0, "MPI_Comm_create_group", 0, 2, int32(r % 2)})
	})
	j := readAll(t, Options{}, ranks...)
	got := map[[2]int]profile.Exchange{}
	for _, l := range j.Links() {
		got[[2]int{l.Rank, l.Partner}] = l.Exchange
	}
	want := map[int]uint64{1: 10, 2: 100, -1: 200} // of rank 0
	for partner, bytes := range want {
		if x := got[[2]int{0, partner}]; x.Out != bytes || x.Sends != 1 {
			t.Errorf("rank 0 to %d: %+v, want %d bytes", partner, x, bytes)
		}
	}
	if len(got) != 12 {
		t.Errorf("%d links, want 12: %v", len(got), got)
	}
}

// readAll merges profiles, whose ranks they state.
func readAll(t *testing.T, o Options, ranks ...*profile.Profile) *Job {
	t.Helper()
	var sources []Source
	for _, p := range ranks {
		sources = append(sources, source(p.Meta.MPI.Rank, 0, encoded(t, p)))
	}
	return read(t, sources, o)
}
