package handles

import (
	"math/bits"
	"slices"
)

// state is one path through the accessor, up to the point that has been reached.
type state struct {
	at, pc uint64 // addresses of the instruction and of the next one
	regs   [32]*node
	flags  flags
	stores []store // newest last
	facts  []fact  // newest last
	// handle & mask == value, as the facts imply.
	mask, value uint64

	steps int
	calls []frame
}

// flags are the flags after comparing a with b, both of some bytes. With result set, only equality
// with 0 and the sign of a are known.
type flags struct {
	a, b   *node
	bytes  int
	result bool
}

type store struct {
	base  *node
	off   int64
	bytes int
	value *node
}

// frame is a call that the path is in.
type frame struct {
	callee uint64
	given  bool  // it was given the address of a result or of a variable on the stack
	sp     *node // the stack pointer at its entry
	tail   bool  // entered by a jump instead of a call
}

// fact says that a value lies in a set.
type fact struct {
	n   *node
	set ranges
}

func (s *state) fork() *state {
	c := *s
	s.stores, s.facts = slices.Clip(s.stores), slices.Clip(s.facts)
	s.calls = slices.Clip(s.calls)
	c.stores, c.facts, c.calls = s.stores, s.facts, s.calls
	return &c
}

// field reports whether a value is a field of the handle: handle >> shift & mask.
func (n *node) field() (shift, mask uint64, ok bool) {
	mask = all
	if n.op == opAnd {
		n, mask = n.a, n.k
	}
	if n.op == opShr {
		n, shift = n.a, n.k
	}
	return shift, mask & (all >> shift), n.op == opHandle
}

// smallField is how many values of a field of the handle are told apart.
const smallField = 64

// domain returns the set of values that n can have on this path.
func (s *state) domain(n *node) ranges {
	if n.isConst() {
		return single(n.k)
	}
	set := ranges{{0, n.max}}
	for i := len(s.facts) - 1; i >= 0; i-- {
		if s.facts[i].n == n {
			set = s.facts[i].set
			break
		}
	}
	if in, ok := s.displaced(n); ok {
		return set.and(in)
	}
	if n.op == opEq {
		in := s.domain(n.a)
		if v, ok := in.isSingle(); ok && v == n.k {
			return single(1)
		} else if !in.contains(n.k) {
			return single(0)
		}
	}
	shift, mask, ok := n.field()
	if !ok {
		return set
	}
	known, value := s.mask>>shift&mask, s.value>>shift&mask
	if mask < smallField && lowMask(mask) {
		return set.and(s.possible(shift, mask))
	}
	return set.and(ranges{{value, value | mask&^known}})
}

// displaced returns the set of a value that differs from another one by a constant.
func (s *state) displaced(n *node) (set ranges, ok bool) {
	most := all
	if n.op == opAnd && lowMask(n.k) {
		n, most = n.a, n.k
	}
	if n.op != opSum || !n.a.isConst() || n.k != 1 || n.b.max > most {
		return nil, false
	}
	return s.domain(n.b).shift(n.a.k, most), true
}

// possible returns the values that a small field of the handle can have, after what is known of its
// bits and its size.
func (s *state) possible(shift, mask uint64) (set ranges) {
	known, value := s.mask>>shift&mask, s.value>>shift&mask
	for v := uint64(0); v <= mask; v++ {
		if v&known == value && !slices.ContainsFunc(s.facts, func(f fact) bool {
			fs, fm, ok := f.n.field()
			return ok && lowMask(fm) && fs <= shift && mask<<(shift-fs)&^fm == 0 && !s.has(f, shift-fs, mask, v)
		}) {
			set = append(set, span{v, v})
		}
	}
	return set.normal()
}

// has reports whether some number of the fact's set has v as its field.
func (s *state) has(f fact, shift, mask, v uint64) bool {
	return slices.ContainsFunc(f.set, func(r span) bool {
		lo, hi := r.lo>>shift, r.hi>>shift
		if hi-lo >= mask {
			return true
		}
		lo, hi = lo&mask, hi&mask
		if lo > hi {
			return v >= lo || v <= hi
		}
		return lo <= v && v <= hi
	})
}

// assume records that a value lies in a set, which must not be empty.
func (s *state) assume(n *node, set ranges) {
	s.facts = append(s.facts, fact{n, set})
	if shift, mask, ok := n.field(); ok && lowMask(mask) {
		lo, hi := set[0].lo, set[len(set)-1].hi
		// All bits above the highest in which the ends differ are known.
		known := mask
		for known != 0 && lo&known != hi&known {
			known &= known << 1
		}
		s.mask |= known << shift
		s.value |= lo & known << shift
	}
}

// known returns the value if the facts leave only one.
func (s *state) known(n *node) (uint64, bool) { return s.domain(n).isSingle() }

// reduce turns a condition on a value into one on a simpler value.
func (ar *arena) reduce(n *node, set ranges) (*node, ranges) {
	for {
		most := all
		in := n
		if n.op == opAnd && lowMask(n.k) {
			most, in = n.k, n.a
		}
		switch {
		case n.op == opEq:
			var of ranges
			if set.contains(1) {
				of = single(n.k)
			}
			if set.contains(0) {
				of = append(of, single(n.k).not(n.a.max)...)
			}
			n, set = n.a, of.normal()
		case in.op == opSum && in.a.isConst() && in.k == 1 && in.a.k != 0:
			n, set = ar.and(in.b, most), set.shift(-in.a.k&most, most)
			set = set.and(ranges{{0, n.max}})
		case in.op == opSum && in.a.isConst() && in.k == all:
			c := in.a.k
			n = ar.and(in.b, most)
			set = set.each(func(s span) []span { return []span{{most - s.hi, most - s.lo}} }).shift(c+1, most)
			set = set.and(ranges{{0, n.max}})
		case n.op == opAnd && n.k&1 == 0 && lowMask(n.k|(n.k-1)):
			low := uint64(bits.TrailingZeros64(n.k))
			n = ar.and(ar.shr(n.a, low), n.k>>low)
			set = set.each(func(s span) []span {
				if s.lo = (s.lo + (1<<low - 1)) >> low; s.lo > s.hi>>low {
					return nil
				}
				return []span{{s.lo, s.hi >> low}}
			})
		default:
			return n, set
		}
	}
}
