package timeline

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// longest finds the longest executions of each region. A region here is a construct at an address,
// on all call paths together. The threads' parts in a team are one execution.
type longest struct {
	most    int // executions of a region that are held
	room    int // executions of all regions that may be held
	held    int
	wanted  int            // most, as the user asked for it
	without map[int32]bool // regions that found no room
	regions []worst
	of      []int32 // index in regions by the engine's node
	numbers map[regionKey]int32
}

// regionKey tells regions apart before their places are known.
type regionKey struct {
	construct event.Construct
	runtime   event.Runtime
	address   uint64
	name      string
}

// worst are the longest executions of a region: a heap, with the shortest one first.
type worst []extreme

// extreme is an execution, and the chunk that holds its span.
type extreme struct {
	span  Span
	chunk uint64
}

// held returns an execution to be held. The counts of a span are the engine's, so they are copied.
func held(s *Span, chunk uint64) extreme {
	x := extreme{*s, chunk}
	if c := s.Counts; c != nil {
		x.span.Counts = &profile.Counts{All: slices.Clone(c.All), Child: slices.Clone(c.Child), Partial: c.Partial}
	}
	return x
}

func (x *extreme) length() uint64   { return x.span.To - x.span.From }
func (x *extreme) stretch() stretch { return stretch{x.span.From, x.span.To} }

// extremeCost is the memory of an execution that is held, with its claim in the packer (bytes).
// countsCost is that of event.MaxCounts counters, with what the allocator rounds up.
const (
	extremeCost = 296
	countsCost  = 64 + 2*144
)

func newLongest(most int, memory int64, counting bool) *longest {
	cost := int64(extremeCost)
	if counting {
		cost += countsCost
	}
	return &longest{most: most, wanted: most, room: int(memory / cost), without: map[int32]bool{}, numbers: map[regionKey]int32{}}
}

// define notes to which region a node belongs.
func (lo *longest) define(d *Definition) {
	key := regionKey{d.Construct, d.Runtime, d.Address, d.Name}
	n, ok := lo.numbers[key]
	if !ok {
		n = int32(len(lo.regions))
		lo.numbers[key] = n
		lo.regions = append(lo.regions, nil)
	}
	for len(lo.of) <= int(d.ID) {
		lo.of = append(lo.of, -1)
	}
	lo.of[d.ID] = n
}

// note considers a span, which lies in the chunk with a number.
func (lo *longest) note(s *Span, chunk uint64) {
	if s.Kind != Execution && s.Kind != Call || s.Flags&Unseen != 0 || s.To == s.From || int(s.Node) >= len(lo.of) || lo.of[s.Node] < 0 {
		return
	}
	w := &lo.regions[lo.of[s.Node]]
	if n := len(*w); n > 0 && n >= lo.most && s.To-s.From <= (*w)[0].length() {
		return
	}
	if s.Team != 0 && w.renew(s, chunk) {
		return
	}
	if len(*w) < lo.most && lo.held >= lo.room {
		lo.shrink()
	}
	switch {
	case len(*w) == 0 && lo.held >= lo.room:
		lo.without[lo.of[s.Node]] = true
	case len(*w) < lo.most:
		heap.Push(w, held(s, chunk))
		lo.held++
	case s.To-s.From > (*w)[0].length():
		(*w)[0] = held(s, chunk)
		heap.Fix(w, 0)
	}
}

// renew tells whether another part of the span's team is held already. The longer of the two stays.
func (w worst) renew(s *Span, chunk uint64) bool {
	for i := range w {
		if x := &w[i]; x.span.Team == s.Team {
			if s.To-s.From > x.length() {
				*x = held(s, chunk)
				heap.Fix(&w, i)
			}
			return true
		}
	}
	return false
}

// shrink holds half as many executions of each region, but one at least.
func (lo *longest) shrink() {
	lo.most = max(lo.most/2, 1)
	lo.held = 0
	for i := range lo.regions {
		w := &lo.regions[i]
		if len(*w) > lo.most {
			slices.SortFunc(*w, func(a, b extreme) int { return cmp.Compare(b.length(), a.length()) })
			*w = slices.Clone((*w)[:lo.most])
			slices.Reverse(*w) // shortest first, so w is a heap
		}
		lo.held += len(*w)
	}
}

// Len implements heap.Interface.
func (w worst) Len() int { return len(w) }

// Less implements heap.Interface.
func (w worst) Less(i, j int) bool { return w[i].length() < w[j].length() }

// Swap implements heap.Interface.
func (w worst) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push implements heap.Interface.
func (w *worst) Push(x any) { *w = append(*w, x.(extreme)) }

// Pop implements heap.Interface.
func (w *worst) Pop() any {
	n := len(*w) - 1
	x := (*w)[n]
	*w = (*w)[:n]
	return x
}

// claims returns the times of the executions that are held.
func (lo *longest) claims() []stretch {
	out := make([]stretch, 0, lo.held)
	for _, w := range lo.regions {
		for i := range w {
			out = append(out, w[i].stretch())
		}
	}
	return out
}

// clone returns an independent copy.
func (lo *longest) clone() *longest {
	if lo == nil {
		return nil
	}
	c := *lo
	c.of = slices.Clone(lo.of)
	c.regions = make([]worst, len(lo.regions))
	for i, w := range lo.regions {
		c.regions[i] = slices.Clone(w)
	}
	c.numbers, c.without = maps.Clone(lo.numbers), maps.Clone(lo.without)
	return &c
}
