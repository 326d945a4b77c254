package timeline

import (
	"cmp"
	"slices"
)

// stretch is a time from one moment to another (ns). Both moments lie in it.
type stretch struct{ from, to uint64 }

// stretches are apart from each other, and in order.
type stretches []stretch

// joined returns the moments that lie in any of a list's stretches.
func joined(list []stretch) (out stretches) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for _, s := range list {
		if n := len(out) - 1; n >= 0 && s.from <= out[n].to {
			out[n].to = max(out[n].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// behind returns the index of the first stretch that does not end before a moment.
func (l stretches) behind(at uint64) int {
	i, _ := slices.BinarySearchFunc(l, at, func(s stretch, at uint64) int { return cmp.Compare(s.to, at) })
	return i
}

// meets tells whether a stretch has a moment with the list in common.
func (l stretches) meets(s stretch) bool {
	i := l.behind(s.from)
	return i < len(l) && l[i].from <= s.to
}

// holds tells whether a stretch lies in one of the list.
func (l stretches) holds(s stretch) bool {
	i := l.behind(s.from)
	return i < len(l) && l[i].from <= s.from && s.to <= l[i].to
}

// and returns the times that lie in both lists.
func (l stretches) and(o stretches) (out stretches) {
	for i, j := 0, 0; i < len(l) && j < len(o); {
		if s := (stretch{max(l[i].from, o[j].from), min(l[i].to, o[j].to)}); s.from <= s.to {
			out = append(out, s)
		}
		if l[i].to < o[j].to {
			i++
		} else {
			j++
		}
	}
	return out
}

// without returns the parts of a stretch that lie outside of the list. Moments at a border count as
// inside.
func (l stretches) without(s stretch) (out stretches) {
	for _, o := range l[l.behind(s.from):] {
		if o.from >= s.to {
			break
		}
		if s.from < o.from {
			out = append(out, stretch{s.from, o.from})
		}
		s.from = o.to
	}
	if s.from < s.to {
		out = append(out, s)
	}
	return out
}

// atMost returns the list if it has n stretches at most. Otherwise it joins those that are closest
// together, until about n/2 are left.
func (l stretches) atMost(n int) stretches {
	if len(l) <= n {
		return l
	}
	apart := make([]uint64, 0, len(l))
	for i := range l[1:] {
		apart = append(apart, l[i+1].from-l[i].to)
	}
	slices.Sort(apart)
	limit := apart[len(apart)-n/2]
	out := slices.Clone(l[:1])
	for _, s := range l[1:] {
		if last := &out[len(out)-1]; s.from-last.to <= limit {
			last.to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}
