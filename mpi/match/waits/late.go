package waits

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// late is a receive that waited for a late sender.
type late struct {
	wait, bound int64
	start, sent uint64
	from        *ranks.Rank
	at, due     match.Place
	told        bool // its wrong order has been counted already
}

// recent holds the latest receives of a rank that waited for late senders.
type recent struct {
	list [16]late
	n    int
}

// lates holds receives that waited for late senders, by rank.
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

// WrongOrder looks for earlier receives of the rank k that waited for a late sender. Rank k now
// receives a message that rank from sent at the time sent; k has waited for it since start. An
// earlier receive was in the wrong order if its message was sent after this one.
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
