package timeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// inventedCounts returns what an execution may have counted.
func inventedCounts(rnd *rand.Rand) *profile.Counts {
	list := func(n int) (out []int64) {
		for range n {
			out = append(out, int64(rnd.Uint64())>>rnd.IntN(64))
		}
		return out
	}
	switch n := rnd.IntN(event.MaxCounts + 1); rnd.IntN(4) {
	case 0:
		return nil
	case 1:
		return &profile.Counts{All: list(n), Partial: true}
	case 2:
		return &profile.Counts{All: list(n), Child: make([]int64, n)} // none inside
	default:
		return &profile.Counts{All: list(n), Child: list(n)}
	}
}

// TestCountsRoundTrip: counters are read as they were told. Files without counters are of the
// version that older tools read.
func TestCountsRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	spans := invented(rnd, 20_000, 1)
	for i := range spans {
		spans[i].From = 1 + 2*uint64(i) // so that their order is known
		spans[i].To = spans[i].From + 1
		spans[i].Counts = inventedCounts(rnd)
	}
	for _, of := range []*Counting{nil, {Counters: []profile.Counter{{Name: "cycles"}}, Column: []int{0}}} {
		r := recorder(t, Options{Plan: Plan{Cap: 1 << 30}, Counting: of, Wait: true})
		for _, s := range spans {
			r.Span(&s)
		}
		r.End(dictionary(1))
		b := save(t, r)
		f := read(t, b)
		version := byte(versionPlain)
		if of != nil {
			version = versionCounts
		}
		if d := cmp.Diff(of, f.Counting); d != "" || b[len(mark)] != version {
			t.Errorf("version %d, %s", b[len(mark)], d)
		}
		got := all(t, f)
		if len(got) != len(spans) {
			t.Fatalf("%d spans", len(got))
		}
		for i := range got {
			want := spans[i].Counts
			if of == nil {
				want = nil
			} else if want != nil && max(0, len(want.Child)) > 0 && cmp.Equal(want.Child, make([]int64, len(want.Child))) {
				want = &profile.Counts{All: want.All, Partial: want.Partial} // 0 is not written
			}
			if d := cmp.Diff(want, got[i].Counts, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("span %d: %s", i, d)
			}
		}
	}
}

// TestLongestCounts: an execution that is held as one of the longest has its own counts, although
// the engine uses their memory again.
func TestLongestCounts(t *testing.T) {
	r := recorder(t, Options{Plan: Plan{Cap: leastCap, Longest: 3}, Counting: &Counting{Counters: make([]profile.Counter, 1), Column: []int{0}}, Wait: true})
	scratch := profile.Counts{All: []int64{0}, Child: []int64{0}}
	for i := range uint64(10) {
		n := 1 + i*7%10
		scratch.All[0], scratch.Child[0] = int64(n), -int64(n)
		r.Span(&Span{Node: 1, From: 100 * i, To: 100*i + n, Counts: &scratch})
	}
	scratch.All[0] = 99
	for _, x := range r.longest.regions[r.longest.of[1]] {
		if n := int64(x.length()); n < 8 || x.span.Counts.All[0] != n || x.span.Counts.Child[0] != -n {
			t.Errorf("of %d ns: %+v", n, *x.span.Counts)
		}
	}
	r.End(dictionary(1))
}

// TestLargestSpan: no span takes more bytes than are set aside for it.
func TestLargestSpan(t *testing.T) {
	const high = math.MinInt64
	s := Span{Thread: -1, Node: -1, Kind: Call, Flags: 255, From: 1, To: 1 << 63, Exec: profile.Sum{T: high, C: 1 << 63},
		Team: 1 << 63, Task: 1 << 63, Lock: 1 << 63, Counts: &profile.Counts{},
		Call: MPI{Comm: 1 << 63, Made: 1 << 63, Rank: math.MinInt32, Size: 1, Peer: math.MinInt32, Peer2: math.MinInt32, Tag: math.MinInt32, Flags: 1, Out: 1 << 63, In: 1 << 63}}
	for i := range s.Parts {
		s.Parts[i] = profile.Sum{T: high, C: 1 << 63}
	}
	for range event.MaxCounts {
		s.Counts.All, s.Counts.Child = append(s.Counts.All, high), append(s.Counts.Child, high)
	}
	var st state
	if n := len(st.put(nil, &s)); n > largestSpan || n < largestSpan/2 {
		t.Errorf("%d bytes, %d are set aside", n, largestSpan)
	}
}

// TestCount: counts become those of the profile's counters, scaled if they took turns.
func TestCount(t *testing.T) {
	of := &Counting{Counters: make([]profile.Counter, 3), Column: []int{1, -1, 0}}
	turns := &Counting{Counters: of.Counters, Column: of.Column, Turns: 2}
	half := profile.Meta{Choices: profile.Choices{Counters: []profile.Counter{{Running: 0.5}, {}, {}}}}
	type value struct {
		N  float64
		OK bool
	}
	for name, tc := range map[string]struct {
		of   *Counting
		meta profile.Meta
		list []int64
		want [3]value
	}{
		"as counted":         {of, profile.Meta{}, []int64{5, 6}, [3]value{{6, true}, {}, {5, true}}},
		"nothing":            {of, profile.Meta{}, nil, [3]value{{0, true}, {}, {0, true}}},
		"fewer":              {of, profile.Meta{}, []int64{5}, [3]value{{}, {}, {5, true}}},
		"others had it":      {of, half, []int64{5, 6}, [3]value{{12, true}, {}, {5, true}}},
		"turns":              {turns, half, []int64{5, 6, 10, 20, 40}, [3]value{{12, true}, {}, {20, true}}},
		"had no turn":        {turns, half, []int64{5, 6, 0, 20, 40}, [3]value{{12, true}, {}, {}}},
		"was on no core":     {turns, half, []int64{0, 0, 0, 0, 0}, [3]value{{0, true}, {}, {0, true}}},
		"turns without time": {turns, half, []int64{5, 6}, [3]value{}},
	} {
		f := &File{Counting: tc.of, Dictionary: &Dictionary{Meta: tc.meta}}
		var got [3]value
		for i := range got {
			got[i].N, got[i].OK = f.Count(tc.list, i)
		}
		if got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	for _, bad := range []*Counting{{Counters: of.Counters}, {Column: []int{-2}, Counters: of.Counters[:1]}, {Column: []int{event.MaxCounts}, Counters: of.Counters[:1]}, {Turns: 9}, {Turns: -1}} {
		if bad.valid() {
			t.Errorf("%+v counts as valid", bad)
		}
	}
}
