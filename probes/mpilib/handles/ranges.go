package handles

import (
	"cmp"
	"slices"
)

// ranges is a set of numbers as disjoint, ascending spans.
type ranges []span

type span struct{ lo, hi uint64 } // both included

// maxRanges bounds the number of spans. A larger set loses its gaps, so that it still holds at
// least the numbers that it should.
const maxRanges = 16

func single(v uint64) ranges { return ranges{{v, v}} }

func (r ranges) isSingle() (uint64, bool) {
	if len(r) == 1 && r[0].lo == r[0].hi {
		return r[0].lo, true
	}
	return 0, false
}

func (r ranges) contains(v uint64) bool {
	return slices.ContainsFunc(r, func(s span) bool { return s.lo <= v && v <= s.hi })
}

func (r ranges) and(o ranges) (both ranges) {
	for _, a := range r {
		for _, b := range o {
			if lo, hi := max(a.lo, b.lo), min(a.hi, b.hi); lo <= hi {
				both = append(both, span{lo, hi})
			}
		}
	}
	return both.normal()
}

// not returns the numbers from 0 to most that are not in r.
func (r ranges) not(most uint64) (rest ranges) {
	next := uint64(0)
	for _, s := range r {
		if s.lo > most {
			break
		}
		if s.lo > next {
			rest = append(rest, span{next, s.lo - 1})
		}
		if s.hi >= most {
			return rest
		}
		next = s.hi + 1
	}
	return append(rest, span{next, most})
}

// each maps every span by f, and joins the results.
func (r ranges) each(f func(span) []span) (out ranges) {
	for _, s := range r {
		out = append(out, f(s)...)
	}
	return out.normal()
}

// shift returns the set of all v + k modulo most + 1.
func (r ranges) shift(k, most uint64) ranges {
	return r.each(func(s span) []span {
		lo, hi := (s.lo+k)&most, (s.hi+k)&most
		if lo > hi {
			return []span{{lo, most}, {0, hi}}
		}
		return []span{{lo, hi}}
	})
}

func (r ranges) normal() ranges {
	slices.SortFunc(r, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	out := r[:0]
	for _, s := range r {
		if n := len(out); n > 0 && (s.lo <= out[n-1].hi || s.lo == out[n-1].hi+1) {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	if len(out) > maxRanges {
		out = ranges{{out[0].lo, out[len(out)-1].hi}}
	}
	return out
}
