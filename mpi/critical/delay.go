package critical

import "slices"

// wait is a call of a rank that waited for another one. Times are in ns.
type wait struct {
	rank, call int
	of, due    int   // the late rank, and its call
	at         int64 // when the wait ended, since all ranks last met: machines' clocks differ
	time       int64
	// since has the moments from which on neither rank had waited for the other: of the waiting
	// rank, and of the late one.
	since    [2]moment
	together bool  // since is known
	caused   int64 // others' waits that are due to this one
	done     bool
}

// moment is a time in a rank's call: the end of the call's wait or, if began is set, the call's
// beginning.
type moment struct {
	call  int
	began bool
}

// costPerCall bounds the work on the waits of a phase: for each call of the phase, so many calls
// are looked at.
const costPerCall = 64

// delays finds what caused the waits of a phase. For rank i, the phase ended in its call
// numbers[i]. A wait has two kinds of causes, which lie in the time since one of the two ranks last
// waited for the other. The first is work: the late rank took longer for something than the waiting
// rank. The second is the late rank's own waits, which have causes in turn (Böhme and others:
// Identifying the root causes of wait states in large-scale parallel applications, 2010).
func (p *Path) delays(numbers []int) {
	waits := p.waits(numbers)
	byCall := map[[2]int]*wait{}
	for i := range waits {
		byCall[[2]int{waits[i].rank, waits[i].call}] = &waits[i]
	}
	budget := costPerCall*p.kept + 1000
	for i := len(waits) - 1; i >= 0; i-- {
		w := &waits[i]
		w.done = true
		p.Waited += w.time
		if !w.together || budget <= 0 {
			p.NoCause += w.time + w.caused
			continue
		}
		budget -= p.explain(w, byCall)
	}
}

// waits returns the waits of a phase in the order in which they ended.
func (p *Path) waits(numbers []int) (out []wait) {
	for rank := range p.ranks {
		k, began := &p.ranks[rank], int64(0)
		if p.synced && len(k.list) > 0 {
			began = int64(k.list[0].over())
		}
		for i := range k.list {
			c := &k.list[i]
			if i == 0 && p.synced || c.state != waited || k.first+i > numbers[rank] || p.ranks[c.rank].at(int(c.call)) == nil {
				continue
			}
			out = append(out, wait{rank: rank, call: k.first + i, of: int(c.rank), due: int(c.call), at: int64(c.at) - began, time: int64(c.at - c.start)})
		}
	}
	slices.SortStableFunc(out, func(a, b wait) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	last := map[[2]int][2]moment{} // by pair of ranks, the lower one first
	for i := range out {
		w := &out[i]
		pair, flip := [2]int{w.rank, w.of}, w.rank > w.of
		now := [2]moment{{call: w.call}, {w.due, true}}
		if flip {
			pair, now = [2]int{pair[1], pair[0]}, [2]moment{now[1], now[0]}
		}
		since, ok := last[pair]
		if !ok {
			since = [2]moment{{call: p.ranks[pair[0]].first}, {call: p.ranks[pair[1]].first}}
			ok = p.synced
		}
		last[pair] = now
		if flip {
			since[0], since[1] = since[1], since[0]
		}
		w.since, w.together = since, ok && since[0].call <= w.call && since[1].call <= w.due
	}
	return out
}

// spent holds a rank's times in a stretch by call path: with its waits (all) and without (own), in
// ns.
type spent struct {
	all, own map[Work]int64
	site     map[Work]int
	waits    []int // numbers of the calls that waited
	unknown  bool  // some call may have waited
	calls    int
}

// spent returns the times of a rank from a moment until the rank's call with the given number.
func (p *Path) spent(rank int, from moment, number int) *spent {
	s := &spent{all: map[Work]int64{}, own: map[Work]int64{}, site: map[Work]int{}}
	k := &p.ranks[rank]
	put := func(site int32, in bool, waited, own int64) {
		w := Work{p.path(rank, int(site)), in}
		s.all[w] += waited + own
		if own > 0 {
			s.own[w] += own
			s.site[w] = int(site)
		}
	}
	for n := from.call; n <= number; n++ {
		c := k.at(n)
		if c == nil {
			s.unknown = true
			return s
		}
		s.calls++
		first := n == from.call
		if !first {
			put(c.site, false, 0, int64(c.start-k.at(n-1).end))
		}
		if n == number {
			break
		}
		over := c.over()
		switch {
		case c.state == unknown || c.state == open:
			s.unknown = s.unknown || !first || from.began
			over = c.end
		case c.state == waited && (!first || from.began):
			s.waits = append(s.waits, n)
			put(c.site, true, int64(c.at-c.start), 0)
		}
		put(c.site, true, 0, int64(c.end-over))
	}
	return s
}

// explain divides a wait among its causes, and with it other ranks' waits that are due to this
// wait. It returns the number of calls that it looked at.
func (p *Path) explain(w *wait, byCall map[[2]int]*wait) int {
	late, other := p.spent(w.of, w.since[1], w.due), p.spent(w.rank, w.since[0], w.call)
	sum, delay := int64(0), map[Work]int64{}
	for at, t := range late.own {
		if d := t - other.all[at]; d > 0 {
			delay[at] = d
			sum += d
		}
	}
	for _, n := range late.waits {
		c := p.ranks[w.of].at(n)
		sum += int64(c.at - c.start)
	}
	cost := late.calls + other.calls
	if late.unknown || sum == 0 {
		p.NoCause += w.time + w.caused
		return cost
	}
	// A cause of d ns gets two shares: short of d for this wait, and far of d for the waits that
	// are due to this wait.
	short, far := min(1, float64(w.time)/float64(sum)), float64(w.caused)/float64(sum)
	left := w.time + w.caused
	for at, d := range delay {
		t := p.time(w.of, late.site[at], at.In)
		near, more := int64(short*float64(d)), int64(far*float64(d))
		t.Delay, t.Far, left = t.Delay+near, t.Far+more, left-near-more
	}
	own := p.time(w.rank, int(p.ranks[w.rank].at(w.call).site), true)
	for _, n := range late.waits {
		c := p.ranks[w.of].at(n)
		near, more := int64(short*float64(c.at-c.start)), int64(far*float64(c.at-c.start))
		own.Indirect += near
		if x := byCall[[2]int{w.of, n}]; x != nil && !x.done {
			x.caused += near + more
			left -= near + more
			p.time(w.of, int(c.site), true).Passed += near + more
		}
	}
	p.NoCause += left
	return cost
}
