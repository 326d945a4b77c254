package hiera

import (
	"slices"
	"testing"
)

// figure2 is the paper's example: 15 vertices on four processes.
func figure2() *Graph {
	g := NewGraph()
	add := func(op Op) {
		op.Category, op.Executions, op.Comm = MPI, 1, World
		g.Add(&op)
	}
	none := Op{Dest: Unknown, Source: Unknown, Peer: Unknown, From: Unknown, Root: Unknown}
	send := func(to int) {
		op := none
		op.Name, op.Dest = "send", to
		add(op)
	}
	receive := func(from int) {
		op := none
		op.Name, op.Source = "receive", from
		add(op)
	}
	bcast := func() {
		op := none
		op.Name, op.Root = "broadcast", 0
		add(op)
	}
	g.Process(0)
	send(1)
	bcast()
	send(1)
	g.Process(1)
	receive(0)
	bcast()
	op := none
	op.Name, op.Dest, op.Source = "sendrecv", 2, 0
	add(op)
	g.Process(2)
	send(3)
	bcast()
	receive(1)
	g.Process(3)
	receive(2)
	bcast()
	g.Join()
	return g
}

func fromOne(walk func(func(int) bool)) (order []int) {
	for v := range walk {
		order = append(order, v+1)
	}
	return order
}

// The orders are those that the paper prints for its Figs. 3 and 4.
func TestWalks(t *testing.T) {
	g := figure2()
	if got, want := fromOne(g.ByOperation()), []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; !slices.Equal(got, want) {
		t.Errorf("by operation: %v", got)
	}
	want := []int{1, 2, 6, 3, 7, 11, 15, 4, 8, 5, 6, 2, 7, 8, 4, 12, 9, 10, 14, 11, 12, 8, 13, 14, 10, 15}
	if got := fromOne(g.ByPartner()); !slices.Equal(got, want) {
		t.Errorf("by partner:\n%v, want\n%v", got, want)
	}
	if got := g.Edges(); got != 7 {
		t.Errorf("%d edges, want 7", got)
	}
	want2 := []Related{{"broadcast", "broadcast", 3}, {"receive", "send", 2}, {"receive", "sendrecv", 1}, {"send", "receive", 2}, {"send", "sendrecv", 1},
		{"sendrecv", "receive", 1}, {"sendrecv", "send", 1}}
	if got := g.Related(); !slices.Equal(got, want2) {
		t.Errorf("%v", got)
	}
	for range g.ByPartner() {
		break
	}
}

// A root that is not the first process is the only one with partners, too.
func TestRootOfCollective(t *testing.T) {
	g := NewGraph()
	for rank := range 3 {
		g.Process(rank)
		g.Add(&Op{Category: MPI, Name: "reduce", Executions: 1, Comm: World, Root: 1, Dest: Unknown, Source: Unknown, Peer: Unknown, From: Unknown})
	}
	g.Join()
	if got, want := fromOne(g.ByPartner()), []int{1, 2, 3, 4, 2, 6, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
