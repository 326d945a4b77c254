package waits

import (
	"cmp"
	"slices"

	"ompp-attach/mpi/match"
)

type sums map[sumKey]*match.Wait

type sumKey struct {
	property match.Property
	at, due  match.Place
}

func (s sums) add(p match.Property, at, due match.Place, t int64) *match.Wait {
	if t <= 0 || s == nil {
		return nil
	}
	k := sumKey{p, at, due}
	w := s[k]
	if w == nil {
		w = &match.Wait{Property: p, At: at, Due: due}
		s[k] = w
	}
	w.T += t
	w.Count++
	return w
}

func (s sums) list() []match.Wait {
	out := make([]match.Wait, 0, len(s))
	for _, w := range s {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b match.Wait) int {
		return cmp.Or(cmp.Compare(a.Property, b.Property), a.At.Compare(b.At), a.Due.Compare(b.Due))
	})
	return out
}
