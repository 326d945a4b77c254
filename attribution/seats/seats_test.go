package seats

import "testing"

// TestSeat: a seat keeps its index, also when seats share a slot of the cache.
func TestSeat(t *testing.T) {
	rs := New()
	for _, c := range []struct{ root, num, want int }{
		{0, 0, 0}, {0, 1, 1}, {0, 257, 2}, {0, 1, 1}, {1, 1, 3}, {0, 257, 2}, {0, 1, 1}, {1, 1, 3}, {0, -1, 4}, {0, -1, 4},
	} {
		if got := rs.Seat(c.root, c.num); got != c.want {
			t.Errorf("seat %d:%d has index %d, want %d", c.root, c.num, got, c.want)
		}
		if r := &rs.List[c.want]; r.Root != c.root || r.Num != c.num {
			t.Errorf("index %d is seat %d:%d, want %d:%d", c.want, r.Root, r.Num, c.root, c.num)
		}
	}
}

// TestManyInitial: initial threads have numbers of their own up to a bound, and share one then.
func TestManyInitial(t *testing.T) {
	rs := New()
	for i := range ManyInitial + 10 {
		if got, want := rs.NewRoot(), min(i, ManyInitial); got != want {
			t.Errorf("initial thread %d has number %d, want %d", i, got, want)
		}
	}
}

// TestNoteTID: a thread's id is noted once, and no more than 64 of a seat.
func TestNoteTID(t *testing.T) {
	rs := New()
	rs.Seat(0, 0)
	for i := range 200 {
		rs.NoteTID(0, uint32(i/2))
	}
	if tids := rs.List[0].TIDs; len(tids) != 64 || tids[0] != 0 || tids[63] != 63 {
		t.Errorf("ids %v, want 0 to 63", tids)
	}
}
