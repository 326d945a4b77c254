package reader

import (
	"slices"

	"ompp-attach/mpi/match/pattern"
)

// camp holds the members of an instance that ran on one machine. Their times are of one clock.
type camp struct {
	host    string
	members []*member  // by rank
	latest  *member    // began last
	first   [2]*member // began first, and the one after that
	left    *member    // left first
	upTo    []*member  // upTo[i] is the one of members[:i+1] that began last; nil: not made yet
}

func (i *instance) camp(m *member) *camp {
	for at := range i.camps {
		if c := &i.camps[at]; c.host == m.rank.log.Host {
			return c
		}
	}
	i.camps = append(i.camps, camp{host: m.rank.log.Host})
	return &i.camps[len(i.camps)-1]
}

func (c *camp) add(m *member) {
	c.members = append(c.members, m)
	if c.latest == nil || m.start > c.latest.start {
		c.latest = m
	}
	switch {
	case c.first[0] == nil || m.start < c.first[0].start:
		c.first = [2]*member{m, c.first[0]}
	case c.first[1] == nil || m.start < c.first[1].start:
		c.first[1] = m
	}
	if c.left == nil || m.end < c.left.end {
		c.left = m
	}
}

func entering(m *member) uint64 { return m.start }
func leaving(m *member) uint64  { return m.end }

// view holds an instance's extremes, by the clock of one machine.
type view struct {
	host   string
	latest moment // when the last member began
	left   moment // when the first member left
}

func (i *instance) seenBy(r *run, k *rank) *view {
	for at := range i.views {
		if v := &i.views[at]; v.host == k.log.Host {
			return v
		}
	}
	var latest, first []*member
	for at := range i.camps {
		latest, first = append(latest, i.camps[at].latest), append(first, i.camps[at].left)
	}
	i.views = append(i.views, view{k.log.Host, r.pick(k, latest, 1, entering), r.pick(k, first, -1, leaving)})
	return &i.views[len(i.views)-1]
}

// firstBut returns the member of each machine that began first, leaving out m.
func (i *instance) firstBut(m *member) (out []*member) {
	for at := range i.camps {
		first := i.camps[at].first[0]
		if first == m {
			first = i.camps[at].first[1]
		}
		if first != nil {
			out = append(out, first)
		}
	}
	return out
}

// latestUpTo returns, for each machine, the member that began last among m and the ranks below m.
func (i *instance) latestUpTo(m *member) (out []*member) {
	for at := range i.camps {
		c := &i.camps[at]
		if c.upTo == nil {
			for _, x := range c.members {
				if n := len(c.upTo); n > 0 && x.start <= c.upTo[n-1].start {
					x = c.upTo[n-1]
				}
				c.upTo = append(c.upTo, x)
			}
		}
		n, found := slices.BinarySearchFunc(c.members, m.in, func(x *member, in int32) int { return int(x.in) - int(in) })
		if found {
			n++
		}
		if n > 0 {
			out = append(out, c.upTo[n-1])
		}
	}
	return out
}

// needs reports whether m cannot leave before o has come.
func (m *member) needs(o *member) bool {
	i := m.of
	moves := o.sends && !o.unknown && m.receives && !m.unknown
	switch i.pattern {
	case pattern.Barrier:
		return true
	case pattern.AllToAll:
		return moves
	case pattern.OneToAll:
		return o == i.rooted && m.receives && !m.unknown
	case pattern.AllToOne:
		return m == i.rooted && moves
	case pattern.Prefix:
		return o.in < m.in && moves
	}
	return false
}

// hub returns the machine of the root, or of the lowest rank. Of each instance, only orders between
// the hub and another machine are told: not those of every pair of machines.
func (i *instance) hub() *camp {
	if i.pattern.Rooted() && i.rooted != nil {
		return i.camp(i.rooted)
	}
	return i.camp(i.members[0])
}

// tellAll tells the orders that follow from an instance, for the members that have left so far.
func (r *run) tellAll(i *instance) {
	if r.order == nil || len(i.camps) < 2 {
		return
	}
	hub := i.hub()
	for at := range i.camps {
		if c := &i.camps[at]; c != hub {
			r.tellFirst(c, hub)
			r.tellFirst(hub, c)
		}
	}
}

// tellFirst notes one order of events on two machines. The member of to that left first cannot have
// left before the members of from that it needs had come. The last of these gives the order.
func (r *run) tellFirst(from, to *camp) {
	var first, last *member
	for _, m := range to.members {
		if m.by == nil || first != nil && m.by.end >= first.by.end {
			continue
		}
		if o := from.neededBy(m); o != nil {
			first, last = m, o
		}
	}
	if first != nil {
		r.tell(last.rank, last.start, first.rank, first.by.end)
	}
}

// neededBy returns the last of the machine's members that m needs; nil: m needs none of them.
func (c *camp) neededBy(m *member) (last *member) {
	if m.needs(c.latest) {
		return c.latest
	}
	for _, o := range c.members {
		if (last == nil || o.start > last.start) && m.needs(o) {
			last = o
		}
	}
	return last
}

// tellOne tells the orders of one member, once it has waited for its nonblocking operation.
func (r *run) tellOne(m *member) {
	if r.order == nil || len(m.of.camps) < 2 {
		return
	}
	hub, own := m.of.hub(), m.of.camp(m)
	for at := range m.of.camps {
		c := &m.of.camps[at]
		if c == own || c != hub && own != hub {
			continue
		}
		if o := c.neededBy(m); o != nil {
			r.tell(o.rank, o.start, m.rank, m.by.end)
		}
	}
}

// apart reports whether members of a group ran on machines whose clocks cannot be compared.
func (r *run) apart(g *group) bool {
	var first *rank
	for _, k := range g.members {
		if first == nil {
			first = k
		}
		if !r.comparable(first, k) {
			return true
		}
	}
	return false
}
