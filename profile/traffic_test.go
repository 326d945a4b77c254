package profile

import (
	"reflect"
	"slices"
	"testing"

	"ompp-attach/mpi"
)

// Sizes are counted by powers of two.
func TestSizes(t *testing.T) {
	var z Sizes
	for _, bytes := range []uint64{0, 1, 2, 3, 4, 7, 8, 1023, 1024, 1<<63 + 5} {
		z.Count(bytes)
	}
	for i, n := range z {
		want := map[int]uint64{0: 1, 1: 1, 2: 2, 3: 2, 4: 1, 10: 1, 11: 1, 64: 1}[i]
		if n != want {
			t.Errorf("%d messages of at least %d bytes, want %d", n, Least(i), want)
		}
	}
	if Least(0) != 0 || Least(1) != 1 || Least(11) != 1024 {
		t.Errorf("%d, %d, %d", Least(0), Least(1), Least(11))
	}
}

// What finds no room among the partners is not lost.
func TestManyPartners(t *testing.T) {
	var x Traffic
	for range 2 {
		for rank := range int32(MaxPartners + 10) {
			x.Add(0, rank, Exchange{Sends: 1, Out: 3})
		}
	}
	if len(x.Partners) != MaxPartners || x.Partners[7].Exchange != (Exchange{Sends: 2, Out: 6}) || x.Others != (Exchange{Sends: 20, Out: 60}) {
		t.Errorf("%d partners, the 7th %+v, others %+v", len(x.Partners), x.Partners[7], x.Others)
	}
}

// The difference of two states, added to the earlier one, gives the later one; neither changes.
func TestTrafficSums(t *testing.T) {
	of := func(n uint64) *Traffic {
		x := &Traffic{Others: Exchange{Recvs: n, In: 5 * n}}
		x.Add(1, 4, Exchange{Sends: n, Out: 8 * n})
		x.Add(0, mpi.AnySource, Exchange{Recvs: 1})
		if n > 1 {
			x.Add(0, 9, Exchange{Sends: 1})
			x.Moved.Count(n)
		}
		x.Sent.Count(8 * n)
		return x
	}
	a, b := of(1), of(3)
	sum := a.Plus(b)
	if got := sum.minus(a); !reflect.DeepEqual(got, b) {
		t.Errorf("%+v, want %+v", got, b)
	}
	if !reflect.DeepEqual(a, of(1)) || !reflect.DeepEqual(b, of(3)) {
		t.Errorf("they changed: %+v, %+v", a, b)
	}
	if got := sum.minus(sum); got != nil {
		t.Errorf("%+v", got)
	}
	var none *Traffic
	if none.Plus(nil) != nil || none.Plus(a) != a || a.Plus(nil) != a {
		t.Error("a sum with nothing")
	}
}

// A rank in a copy of MPI_COMM_WORLD is a rank in MPI_COMM_WORLD, one in a part of it is not.
func TestWorldRank(t *testing.T) {
	by := func(name string) *mpi.Op {
		op, ok := mpi.ParseOp(name)
		if !ok {
			t.Fatal(name)
		}
		return &op
	}
	p := &Profile{Meta: Meta{MPI: &MPIJob{Rank: 5, Size: 8}}, Comms: []Comm{
		{Parent: -1},
		{Parent: 0, By: by("MPI_Comm_dup")},
		{Parent: 1, By: by("MPI_Cart_create")},
		{Parent: 1, By: by("MPI_Cart_create"), Decides: 1},
		{Parent: 0, By: by("MPI_Comm_split"), Size: 4},
		{Parent: 4, By: by("MPI_Comm_dup"), Size: 4},
		{Parent: 0, By: by("MPI_Comm_split"), Size: 1},
		{Parent: -1, Several: true},
		{Parent: 2, By: by("MPI_Win_create")},
	}}
	var known []int
	for i := range p.Comms {
		world, ok := p.WorldRank(i, 3)
		if want := int32(3); ok {
			if i == 6 {
				want = 5 // there is nobody else
			}
			if world != want {
				t.Errorf("communicator %d: rank %d, want %d", i, world, want)
			}
			known = append(known, i)
		}
	}
	if !slices.Equal(known, []int{0, 1, 2, 6, 8}) {
		t.Errorf("known of %v", known)
	}
	if _, ok := p.WorldRank(0, mpi.AnySource); ok {
		t.Error("anybody has a rank")
	}
}
