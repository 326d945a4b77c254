package samples

import (
	"strings"
	"testing"

	"ompp-attach/attribution/tree"
)

// TestStacks: equal stacks have one number. When there are too many, new ones keep their innermost
// address, and old ones stay whole.
func TestStacks(t *testing.T) {
	var s Store
	large := func(first, rest uint64) []uint64 { // of 1 MiB
		stack := make([]uint64, 1<<17)
		for i := range stack {
			stack[i] = rest
		}
		stack[0] = first
		return stack
	}
	const most = MaxStackBytes >> 20
	for i := range uint64(most) {
		if n := s.Take(large(1, i)); n != int32(i) {
			t.Fatalf("stack %d has number %d", i, n)
		}
	}
	if s.Note() != nil {
		t.Errorf("%q, but all stacks are kept", s.Note())
	}
	innermost := s.Take(large(1, most))
	for _, c := range []struct {
		name  string
		stack []uint64
		want  int32
	}{
		{"kept before", large(1, 3), 3},
		{"new, with the same innermost address", large(1, most+1), innermost},
		{"of the innermost address only", []uint64{1}, innermost},
		{"new, with another innermost address", large(2, 0), innermost + 1},
	} {
		if n := s.Take(c.stack); n != c.want {
			t.Errorf("%s: number %d, want %d", c.name, n, c.want)
		}
	}
	if len(s.Stacks[innermost]) != 8 || len(s.Stacks[3]) != 1<<20 {
		t.Errorf("stacks of %d and %d bytes, want 8 and 1 MiB", len(s.Stacks[innermost]), len(s.Stacks[3]))
	}
	if note := strings.Join(s.Note(), ""); !strings.Contains(note, "of 3 samples") {
		t.Errorf("%q, want 3 samples cut", note)
	}
}

// TestRoom: a stack that is too large takes no room from smaller ones.
func TestRoom(t *testing.T) {
	var s Store
	s.Take([]uint64{9})
	s.Take(append([]uint64{9}, make([]uint64, MaxStackBytes/8)...))
	if n := s.Take([]uint64{9, 8}); n != 1 || len(s.Stacks[n]) != 16 {
		t.Errorf("stack %d of %d, want a stack of its own", n, len(s.Stacks))
	}
}

// TestPlaces: when there are too many places, samples at new ones keep their innermost address.
// None is lost.
func TestPlaces(t *testing.T) {
	var s Store
	var n tree.Node
	whole := s.Take([]uint64{1, 2})
	for seat := range maxPlaces + 5 {
		s.Add(&n, tree.SampleID{Seat: seat, Stack: whole}, 2)
	}
	s.Add(&n, tree.SampleID{Seat: 0, Stack: whole}, 2) // a known place
	cut := s.Take([]uint64{1})
	for _, c := range []struct {
		id   tree.SampleID
		want tree.SampleSum
	}{
		{tree.SampleID{Seat: 0, Stack: whole}, tree.SampleSum{Count: 2, Weight: 4}},
		{tree.SampleID{Seat: maxPlaces - 1, Stack: whole}, tree.SampleSum{Count: 1, Weight: 2}},
		{tree.SampleID{Seat: maxPlaces, Stack: whole}, tree.SampleSum{}},
		{tree.SampleID{Seat: maxPlaces, Stack: cut}, tree.SampleSum{Count: 1, Weight: 2}},
	} {
		if got := n.Samples[c.id]; got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.id, got, c.want)
		}
	}
	if s.cut != 5 {
		t.Errorf("%d samples cut, want 5", s.cut)
	}
}
