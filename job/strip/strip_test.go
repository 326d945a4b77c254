package strip

import (
	"bytes"
	"math"
	"testing"
	"time"

	"ompp-attach/profile"
)

// striped returns the profile of a rank. Its threads work for a time, and then are in barriers
// until the end. All states have the given share of the time. The rank starts later by a time.
func striped(later, work, end time.Duration, share float64) *profile.Profile {
	const bins = 1000
	width := int64(end) / bins
	at := int(int64(work) / width)
	full := byte(share*profile.WholeBin + 0.5)
	states := map[profile.State][]byte{profile.StateWork: bytes.Repeat([]byte{full}, at),
		profile.StateBarrier: append(make([]byte, at), bytes.Repeat([]byte{full}, bins-at)...)}
	p := &profile.Profile{Strip: &profile.Strip{Width: width, Bins: bins, Rows: []profile.StripRow{{TID: 1, States: states}, {TID: 2, States: states}}}}
	p.Meta.Start = time.Unix(1000, 0).Add(later)
	return p
}

// TestStrip: the time of each state stays as long as it was, and where it was. This holds for one
// rank, and for more ranks than there are rows.
func TestStrip(t *testing.T) {
	const second = time.Second
	for _, n := range []int{1, 2, 128, 129, 10_000} {
		var all []*Rank
		for rank := range n {
			later := time.Duration(rank%2) * second / 2
			all = append(all, Of(striped(later, second, 2*second, 0.8), n-1-rank))
		}
		s := Join(all)
		if s.Bins != mostBins || len(s.Rows) > mostRows || len(s.Rows) < min(n, mostRows/2) {
			t.Fatalf("%d ranks: %d bins, %d rows", n, s.Bins, len(s.Rows))
		}
		next := 0
		for _, r := range s.Rows {
			if r.First != next || r.Last < r.First {
				t.Fatalf("%d ranks: a row of ranks %d to %d, want from %d on", n, r.First, r.Last, next)
			}
			next = r.Last + 1
			for state, want := range map[profile.State]float64{profile.StateWork: 0.8, profile.StateBarrier: 0.8} {
				drawn := 0.0
				for _, v := range r.States[state] {
					drawn += float64(v) / profile.WholeBin * float64(s.Width) / 1e9
				}
				if math.Abs(float64(r.Times[state])/1e9-want) > 0.01 || math.Abs(drawn-want) > 0.01 {
					t.Errorf("%d ranks, %s of %d: %v, drawn %v s, want %v", n, state, r.First, r.Times[state], drawn, want)
				}
			}
		}
		if next != n {
			t.Errorf("rows end before rank %d of %d", next, n)
		}
		if n == 2 { // rank 0 starts half a second later
			bin := func(at time.Duration) int { return int(int64(at) / s.Width) }
			if w := s.Rows[0].States[profile.StateWork]; w[bin(second/4)] != 0 || w[bin(second)] != 204 || w[bin(7*second/4)] != 0 {
				t.Errorf("rank 0 works at %v", w)
			}
			if w := s.Rows[1].States[profile.StateWork]; w[bin(second/4)] != 204 || w[bin(5*second/4)] != 0 {
				t.Errorf("rank 1 works at %v", w)
			}
		}
	}
	if Join(nil) != nil || Of(&profile.Profile{}, 0) != nil {
		t.Error("a strip of nothing")
	}
}
