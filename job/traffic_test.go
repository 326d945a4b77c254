package job

import (
	"testing"

	"ompp-attach/profile"
)

// sending returns a rank that sends a message of 10 bytes to each of the first ranks, itself among
// them.
func sending(rank, to int) *profile.Profile {
	p := toy(rank, 2, 0, 0)
	p.Comms = []profile.Comm{{Parent: -1}}
	var x profile.Traffic
	for r := range to {
		x.Add(0, int32(r), profile.Exchange{Sends: 1, Out: 10})
	}
	p.Nodes[4].Stats[0].Traffic = &x
	return p
}

// A rank is no receiver of its own, and beyond the partners that are held receivers are not known.
func TestReceivers(t *testing.T) {
	for to, want := range map[int]struct {
		most    int64
		unknown bool
	}{2: {1, false}, profile.MaxPartners: {profile.MaxPartners - 1, false}, profile.MaxPartners + 1: {profile.MaxPartners - 1, true}} {
		j := readAll(t, Options{}, sending(0, to), sending(1, 1))
		if s := j.Receivers(); s.Max != want.most || s.Min != 1 || j.SentToUnknown() != want.unknown {
			t.Errorf("to %d ranks: %+v, to unknown ones: %t, want %+v", to, s, j.SentToUnknown(), want)
		}
	}
	j := readAll(t, Options{}, sending(0, 1), sending(1, 0))
	if s := j.Receivers(); s.Max != 0 {
		t.Errorf("rank 0 sends to itself only: %+v", s)
	}
}

// Of communicators beyond those that the job keeps, links say just that.
func TestUnheldCommunicators(t *testing.T) {
	const list = mostComms + 2 // and MPI_COMM_WORLD
	ranks := all(t, 2, func(r int) (out []testComm) {
		for i := range list {
			out = append(out, testComm{0, i + 1, "MPI_Comm_dup", 0, 2, int32(r)})
		}
		return out
	})
	unheld := 0
	for _, l := range readAll(t, Options{}, ranks...).Links() {
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
