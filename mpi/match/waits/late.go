package waits

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// late is a receive of which the sender was late.
type late struct {
	wait, bound int64
	start, sent uint64
	from        *ranks.Rank
	at, due     match.Place
	told        bool // its wrong order has been counted
}

// recent holds the latest such receives of a rank.
type recent struct {
	list [16]late
	n    int
}

// lates holds such receives by rank.
type lates []*recent

// of returns the receives of a rank; nil: there are none.
func (s lates) of(k *ranks.Rank) *recent {
	if k.Index >= len(s) {
		return nil
	}
	return s[k.Index]
}

func (s *lates) add(k *ranks.Rank, l late) {
	r := s.of(k)
	if r == nil {
		*s = append(*s, make([]*recent, max(0, k.Index+1-len(*s)))...)
		r = &recent{}
		(*s)[k.Index] = r
	}
	r.list[r.n%len(r.list)] = l
	r.n++
}

// WrongOrder looks for earlier receives of the rank k that waited for a late sender. If the message
// that k receives now had been sent before, they were in the wrong order. from sent this message at
// the time sent. k waits for it since start.
func (b *Ledger) WrongOrder(k, from *ranks.Rank, start, sent uint64) {
	r := b.lates.of(k)
	if r == nil {
		return
	}
	for i := range r.list[:min(r.n, len(r.list))] {
		l := &r.list[i]
		if l.told || l.start >= start {
			continue
		}
		if then, bound := b.clocks.Seen(from, l.from, l.sent); int64(then)-bound <= int64(sent) {
			continue
		}
		l.told = true
		p := match.WrongOrderOther
		if l.from == from {
			p = match.WrongOrder
		}
		across(b.sums.add(p, l.at, l.due, l.wait), l.bound)
	}
}
