package inline

import (
	"slices"

	"ompp-attach/probes/disasm"
)

// syncs joins the copies that GCC makes of one call in the source. All threads of a team pass the
// same barriers and worksharing constructs in the same order. So if a test of the thread's number
// or share leads to different calls, these are copies of one call. What follows the copies are
// copies again.
type syncs struct {
	f    *function
	same map[int]int // for each block that ends in a call: the block that stands for all copies
	// by first block: the calls that can come next; leaves stands for the function's end
	next map[int][]int
}

const leaves = -1

func (f *function) syncs() *syncs {
	s := &syncs{f: f, same: map[int]int{}, next: map[int][]int{}}
	type pair struct{ a, b int } // the first blocks of two ways that lead to the same call
	var pairs []pair
	for n := range f.g.Blocks {
		b := &f.g.Blocks[n]
		if b.Last().Control == disasm.Jcc && f.flow.Flags[b.Last().Addr]&byThread != 0 && len(b.Succs) == 2 {
			pairs = append(pairs, pair{b.Succs[0], b.Succs[1]})
		}
	}
	for changed := true; changed; {
		changed = false
		for i := 0; i < len(pairs); i++ { // grows
			a, b := s.after(pairs[i].a), s.after(pairs[i].b)
			onlyA := slices.DeleteFunc(slices.Clone(a), func(n int) bool { return slices.Contains(b, n) })
			onlyB := slices.DeleteFunc(slices.Clone(b), func(n int) bool { return slices.Contains(a, n) })
			for _, x := range onlyA {
				if x == leaves || s.alike(x, onlyA) != 1 || s.alike(x, onlyB) != 1 {
					continue
				}
				for _, y := range onlyB {
					if y != leaves && s.call(x) == s.call(y) {
						s.same[max(x, y)] = min(x, y)
						changed = true
						if p, q := f.g.Blocks[x].After, f.g.Blocks[y].After; p >= 0 && q >= 0 {
							pairs = append(pairs, pair{p, q})
						}
					}
				}
			}
		}
	}
	return s
}

func (s *syncs) call(n int) string { return s.f.calls[s.f.g.Blocks[n].Last().Addr] }

// alike counts the calls in a list that have the same callee as x.
func (s *syncs) alike(x int, list []int) (n int) {
	for _, y := range list {
		if y != leaves && s.call(x) == s.call(y) {
			n++
		}
	}
	return n
}

// one returns the call that stands for all copies of a call.
func (s *syncs) one(n int) int {
	for {
		m, ok := s.same[n]
		if !ok {
			return n
		}
		n = m
	}
}

// copies returns all copies of a call.
func (s *syncs) copies(n int) (all []int) {
	n = s.one(n)
	for m := range s.f.g.Blocks {
		if divides(s.call(m)) && s.one(m) == n {
			all = append(all, m)
		}
	}
	return all
}

// after returns the calls that can come next from a block on.
func (s *syncs) after(block int) (calls []int) {
	raw, ok := s.next[block]
	if !ok {
		for n := range s.f.reach([]int{block}) {
			b := &s.f.g.Blocks[n]
			switch {
			case divides(s.call(n)):
				raw = append(raw, n)
			case b.Leaves && !s.f.noReturn(b):
				raw = append(raw, leaves)
			}
		}
		s.next[block] = raw
	}
	for _, n := range raw {
		if n != leaves {
			n = s.one(n)
		}
		if !slices.Contains(calls, n) {
			calls = append(calls, n)
		}
	}
	return calls
}
