package timeline

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/profile"
)

// execution names what counts as one execution: a span, or the threads' parts in a team's.
type execution struct {
	node int32
	team uint64
	span Span // of no team
}

// lengths returns the length of each execution of spans, by node.
func lengths(spans []Span) map[execution]stretch {
	out := map[execution]stretch{}
	for _, s := range spans {
		if s.Kind != Execution && s.Kind != Call || s.Flags&Unseen != 0 || s.From == s.To {
			continue
		}
		key := execution{node: s.Node, team: s.Team}
		if s.Team == 0 {
			key.span = s
		}
		if o, ok := out[key]; !ok || o.to-o.from < s.To-s.From {
			out[key] = stretch{s.From, s.To}
		}
	}
	return out
}

// longestOf returns the lengths of the most longest executions of each node, longest first.
func longestOf(all map[execution]stretch, most int) map[int32][]uint64 {
	out := map[int32][]uint64{}
	for x, s := range all {
		out[x.node] = append(out[x.node], s.to-s.from)
	}
	for node, list := range out {
		slices.SortFunc(list, func(a, b uint64) int { return cmp.Compare(b, a) })
		out[node] = list[:min(len(list), most)]
	}
	return out
}

// kept counts spans.
func kept(spans []Span) map[Span]int {
	out := map[Span]int{}
	for _, s := range spans {
		s.Call.Op = 0
		out[s]++
	}
	return out
}

// checkLongest compares what a recording of the longest executions has kept with all spans. whole:
// memory held all that was under way during each of them.
func checkLongest(t *testing.T, f *File, spans []Span, most int, whole bool) {
	t.Helper()
	got := all(t, f)
	there := kept(got)
	recorded := map[Span]int{}
	for _, s := range spans {
		s.Call.Op = 0
		if _, ok := there[s]; ok {
			recorded[s]++
		}
	}
	for s, n := range there {
		if n > recorded[s] {
			t.Fatalf("%+v is kept %d times, it was recorded %d times", s, n, recorded[s])
		}
	}
	executions := lengths(spans)
	want, have := longestOf(executions, most), longestOf(lengths(got), most)
	for node, list := range want {
		if !slices.Equal(list, have[node]) {
			t.Fatalf("node %d: the longest executions took %v, kept are %v", node, list, have[node])
		}
	}
	var sure, possible []stretch
	for x, s := range executions {
		limit := want[x.node][len(want[x.node])-1]
		if n := s.to - s.from; n > limit || len(want[x.node]) < most {
			sure = append(sure, s)
		} else if n < limit {
			continue
		}
		possible = append(possible, s)
	}
	checkDuring(t, f, spans, got, joined(sure), joined(possible), whole)
}

// checkDuring compares what is kept with the times at which it is to be kept.
func checkDuring(t *testing.T, f *File, spans, got []Span, sure, possible stretches, whole bool) {
	t.Helper()
	var lost, between []stretch
	for _, g := range f.Gaps {
		switch g.Why {
		case ByCap:
			lost = append(lost, stretch{g.From, g.To})
		case ByLength:
			between = append(between, stretch{g.From, g.To})
		default:
			t.Errorf("gap %+v", g)
		}
	}
	if whole && len(lost) > 0 {
		t.Errorf("gaps %v, though memory held all", lost)
	}
	for _, s := range got {
		if !possible.meets(stretch{s.From, s.To}) {
			t.Fatalf("%+v was under way during no long execution", s)
		}
	}
	inLost, inBetween := joined(lost), joined(between)
	there := kept(got)
	for _, s := range spans {
		key, x := s, stretch{s.From, s.To}
		key.Call.Op = 0
		if n := there[key]; n > 0 {
			there[key] = n - 1
			continue
		}
		if !sure.meets(x) && inBetween.holds(x) {
			continue
		}
		if whole && sure.meets(x) || !inLost.meets(x) && !inBetween.holds(x) {
			t.Fatalf("%+v is missing, gaps %v and %v", s, lost, between)
		}
	}
	for _, s := range sure {
		for _, g := range between {
			if g.from < s.to && s.from < g.to {
				t.Fatalf("%v is a gap, though a long execution was under way in %v", g, s)
			}
		}
	}
	if k := f.Dictionary.Kept; k == nil || k.Spans != uint64(len(spans)) {
		t.Errorf("of %d spans, the file says %+v", len(spans), k)
	}
}

// TestLongest: exactly the longest executions of each region are kept, with all that was under way
// during them. A copy that was made in the middle keeps them, too.
func TestLongest(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		spans := invented(rnd, 1+rnd.IntN(8_000), 1+rnd.IntN(4))
		most := 1 + rnd.IntN(30)
		r := recorder(t, Options{Plan: Plan{Cap: 1 << 26, Longest: most}, Wait: true})
		half := rnd.IntN(len(spans))
		for i := range spans[:half] {
			r.Span(&spans[i])
		}
		b, err := r.Branch()
		if err != nil {
			t.Fatal(err)
		}
		for i := range spans[half:] {
			r.Span(&spans[half+i])
		}
		b.End(dictionary(4))
		r.End(dictionary(4))
		checkLongest(t, read(t, save(t, b)), spans[:half], most, true)
		checkLongest(t, read(t, save(t, r)), spans, most, true)
		if t.Failed() {
			t.Fatalf("seed %d, %d spans", seed, len(spans))
		}
	}
}

// TestLongestInBounds: whatever comes, memory stays below the cap, the longest executions are kept,
// and what is missing during them lies in gaps that say so.
func TestLongestInBounds(t *testing.T) {
	const most, limit = 20, leastCap
	for name, every := range map[string]int{"short executions": 0, "an execution around many": 130_000, "around all": 1 << 62} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "an execution around many" {
				t.Skip("one of three shapes in short tests")
			}
			r := recorder(t, Options{Plan: Plan{Cap: limit, Longest: most}, Wait: true})
			rnd := rand.New(rand.NewPCG(3, 4))
			var spans []Span
			now, began := uint64(0), uint64(0)
			tell := func(s Span) {
				spans = append(spans, s)
				r.Span(&s)
			}
			for i := range 400_000 {
				from := now
				now += 1000 + rnd.Uint64N(1<<20)
				if rnd.IntN(10_000) == 0 {
					now += rnd.Uint64N(1 << 24)
				}
				tell(Span{TID: rnd.Uint32N(3), Node: 1 + rnd.Int32N(3), From: from, To: now, Lock: rnd.Uint64()})
				if every > 0 && (i+1)%every == 0 || every == 1<<62 && i == 399_999 {
					tell(Span{TID: 9, Node: 4, From: began, To: now, Lock: 7})
					began = now
				}
				if i%20_000 == 0 {
					checkBytes(t, r, limit)
				}
			}
			r.End(dictionary(1))
			f := read(t, save(t, r))
			if n, size := f.Spans(); n == uint64(len(spans)) || size > limit {
				t.Errorf("%d of %d spans in %d bytes", n, len(spans), size)
			}
			checkLongest(t, f, spans, most, every == 0)
		})
	}
}

// TestCountersInBounds: the counters of the longest executions count against the cap, too.
func TestCountersInBounds(t *testing.T) {
	r := recorder(t, Options{Plan: Plan{Cap: leastCap, Longest: 1 << 20}, Wait: true,
		Counting: &Counting{Counters: make([]profile.Counter, 1), Column: []int{0}}})
	counts := profile.Counts{All: []int64{1}, Child: []int64{0}}
	for i := range uint64(200_000) {
		r.Span(&Span{Node: 1 + int32(i%3), From: 1000 * i, To: 1000*i + 1 + i%997, Counts: &counts})
		if i%20_000 == 0 {
			checkBytes(t, r, leastCap)
		}
	}
	if held := int64(r.longest.held) * (extremeCost + countsCost); held > leastCap/8 || held < leastCap/32 {
		t.Errorf("%d executions are held: %d bytes, of %d", r.longest.held, held, leastCap/8)
	}
	r.End(dictionary(1))
}

// checkBytes compares what a recorder holds with its cap.
func checkBytes(t *testing.T, r *Recorder, limit int64) {
	t.Helper()
	r.packer.mu.Lock()
	defer r.packer.mu.Unlock()
	held := int64(0)
	for i := range r.packer.shelf.chunks {
		held += r.packer.shelf.chunks[i].cost()
	}
	if held != r.packer.shelf.bytes {
		t.Fatalf("%d bytes are held, %d are counted", held, r.packer.shelf.bytes)
	}
	cost := int64(extremeCost)
	if r.options.Counting != nil {
		cost += countsCost
	}
	held += int64(r.open) + int64(len(r.packer.queue))*chunkSize + int64(r.longest.held)*cost
	if held > limit {
		t.Fatalf("%d bytes are held, the cap is %d", held, limit)
	}
}

// TestManyRegions: if memory cannot hold as many executions as the user asked for, fewer of each
// region are held, and the file says how many.
func TestManyRegions(t *testing.T) {
	for _, regions := range []int32{100, 800, 5000} {
		lo := newLongest(20, 1000*extremeCost, false)
		for i := range regions {
			lo.define(&Definition{ID: i + 1, Address: uint64(i)})
		}
		for n := range uint64(40) {
			for i := range regions {
				lo.note(&Span{Node: i + 1, From: 10, To: 11 + n*7%41}, 1)
			}
		}
		want, without := map[int32]int{100: 10, 800: 1, 5000: 1}[regions], max(0, int(regions)-1000)
		if lo.most != want || len(lo.without) != without || lo.held > 1000 || lo.held != len(lo.claims()) {
			t.Errorf("%d regions: %d executions of each, %d together, %d regions have none", regions, lo.most, lo.held, len(lo.without))
		}
		for i := range lo.regions[:min(regions, 800)] {
			for _, x := range lo.regions[i] {
				if least := uint64(41 - lo.most); x.length() < least {
					t.Fatalf("%d regions: an execution of %d ns is held of region %d", regions, x.length(), i)
				}
			}
		}
	}
}

func TestStretches(t *testing.T) {
	l := joined([]stretch{{30, 40}, {1, 3}, {3, 5}, {10, 10}, {2, 4}})
	if want := (stretches{{1, 5}, {10, 10}, {30, 40}}); !slices.Equal(l, want) {
		t.Fatalf("joined: %v", l)
	}
	if got, want := l.and(stretches{{0, 1}, {4, 30}}), (stretches{{1, 1}, {4, 5}, {10, 10}, {30, 30}}); !slices.Equal(got, want) {
		t.Errorf("and: %v", got)
	}
	if got, want := l.without(stretch{0, 50}), (stretches{{0, 1}, {5, 10}, {10, 30}, {40, 50}}); !slices.Equal(got, want) {
		t.Errorf("without: %v", got)
	}
	far := stretches{{1, 2}, {4, 5}, {10, 11}, {20, 21}, {40, 41}}
	if got, want := far.atMost(4), (stretches{{1, 21}, {40, 41}}); !slices.Equal(got, want) || !slices.Equal(far.atMost(5), far) {
		t.Errorf("at most: %v", got)
	}
	for s, want := range map[stretch][2]bool{{5, 6}: {true, false}, {6, 9}: {}, {2, 4}: {true, true}, {0, 60}: {true, false}, {41, 50}: {}} {
		if got := [2]bool{l.meets(s), l.holds(s)}; got != want {
			t.Errorf("%v meets and holds %v: %v", l, s, got)
		}
	}
}
