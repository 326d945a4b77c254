package traffic

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// sending returns the profile of a rank with a call site of MPI_Send that has the given traffic.
func sending(rank, size int, x *profile.Traffic) *profile.Profile {
	p := &profile.Profile{Comms: []profile.Comm{{Parent: -1}}, Regions: []profile.Region{{Construct: event.MPI, Name: "MPI_Send"}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Region: 0, Stats: []profile.ThreadStats{{Traffic: x}}}}}
	p.Meta.MPI = &profile.MPIJob{Rank: rank, Size: size}
	return p
}

// toFirst returns the profile of a rank of two. The rank sends a message of 10 bytes to each of the
// first ranks, which include itself.
func toFirst(rank, to int) *profile.Profile {
	var x profile.Traffic
	for r := range to {
		x.Add(0, int32(r), profile.Exchange{Sends: 1, Out: 10})
	}
	return sending(rank, 2, &x)
}

func joined(profiles ...*profile.Profile) *Job {
	var ranks []*Rank
	for _, p := range profiles {
		ranks = append(ranks, Of(p, p.Meta.MPI.Rank))
	}
	return Join(ranks, profiles[0].Meta.MPI.Size)
}

// inComm adds a communicator to a profile, and a message of so many bytes to the next rank there.
func inComm(t *testing.T, p *profile.Profile, by string, order int, decides, size, rank int32, bytes uint64) {
	t.Helper()
	op, ok := mpi.ParseOp(by)
	if !ok {
		t.Fatal(by)
	}
	p.Comms = append(p.Comms, profile.Comm{By: &op, Order: order, Decides: decides, Size: size, Rank: rank})
	p.Nodes[1].Stats[0].Traffic.Add(len(p.Comms)-1, (rank+1)%size, profile.Exchange{Sends: 1, Out: bytes})
}

// TestReceivers: a rank is no receiver of its own messages. Receivers beyond the partners that the
// job keeps are not known.
func TestReceivers(t *testing.T) {
	for to, want := range map[int]struct {
		most    int64
		unknown bool
	}{2: {1, false}, profile.MaxPartners: {profile.MaxPartners - 1, false}, profile.MaxPartners + 1: {profile.MaxPartners - 1, true}} {
		j := joined(toFirst(0, to), toFirst(1, 1))
		if r := j.Receivers(); r[0] != want.most || r[1] != 1 || j.SentToUnknown() != want.unknown {
			t.Errorf("to %d ranks: %v, to unknown ones: %t, want %+v", to, r, j.SentToUnknown(), want)
		}
	}
	j := joined(toFirst(0, 1), toFirst(1, 0))
	if r := j.Receivers(); r[0] != 0 {
		t.Errorf("rank 0 sends to itself only: %v", r)
	}
}

// Links are by ranks in MPI_COMM_WORLD.
func TestLinks(t *testing.T) {
	var ranks []*profile.Profile
	for r := range int32(4) {
		var x profile.Traffic
		x.Add(0, (r+1)%4, profile.Exchange{Sends: 1, Out: 10})
		p := sending(int(r), 4, &x)
		// Even and odd ranks, in reverse order.
		inComm(t, p, "MPI_Comm_split", 1, r%2, 2, 1-r/2, 100)
		inComm(t, p, "MPI_Comm_create_group", 0, 0, 2, r%2, 200)
		ranks = append(ranks, p)
	}
	got := map[[2]int]profile.Exchange{}
	for _, l := range joined(ranks...).Links {
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

// TestUnheldCommunicators: links say if a communicator is beyond those that the job keeps.
func TestUnheldCommunicators(t *testing.T) {
	const list = 128 + 2 // and MPI_COMM_WORLD
	var ranks []*profile.Profile
	for r := range int32(2) {
		p := sending(int(r), 2, &profile.Traffic{})
		for i := range list {
			inComm(t, p, "MPI_Comm_dup", i+1, 0, 2, r, 1)
		}
		ranks = append(ranks, p)
	}
	unheld := 0
	for _, l := range joined(ranks...).Links {
		if l.Unheld != (l.Partner < 0) {
			t.Errorf("link %+v", l)
		}
		if l.Unheld {
			unheld++
		}
	}
	if unheld != 2*3 {
		t.Errorf("%d links in communicators that are not held, want 6", unheld)
	}
}
