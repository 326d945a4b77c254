package collectives

import (
	"slices"

	"ompp-attach/mpi/match/pattern"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// camp holds the members of an instance that ran on one machine. Their times are of one clock.
type camp struct {
	host    string
	members []*member  // by rank
	latest  *member    // began last
	first   [2]*member // began first, and the one after that
	left    *member    // left first
	upTo    []*member  // upTo[i] began last of members[:i+1]; nil: not computed yet
}

func (i *instance) camp(m *member) *camp {
	for at := range i.camps {
		if c := &i.camps[at]; c.host == m.Rank.Log.Host {
			return c
		}
	}
	i.camps = append(i.camps, camp{host: m.Rank.Log.Host})
	return &i.camps[len(i.camps)-1]
}

func (c *camp) add(m *member) {
	c.members = append(c.members, m)
	if c.latest == nil || m.Start > c.latest.Start {
		c.latest = m
	}
	switch {
	case c.first[0] == nil || m.Start < c.first[0].Start:
		c.first = [2]*member{m, c.first[0]}
	case c.first[1] == nil || m.Start < c.first[1].Start:
		c.first[1] = m
	}
	if c.left == nil || m.End < c.left.End {
		c.left = m
	}
}

// view holds an instance's extremes, by the clock of one machine.
type view struct {
	host   string
	latest waits.Moment // when the last member began
	left   waits.Moment // when the first member left
}

func (i *instance) seenBy(clocks *ranks.Clocks, k *ranks.Rank) *view {
	for at := range i.views {
		if v := &i.views[at]; v.host == k.Log.Host {
			return v
		}
	}
	var latest, first []*waits.Stay
	for at := range i.camps {
		latest, first = append(latest, &i.camps[at].latest.Stay), append(first, &i.camps[at].left.Stay)
	}
	i.views = append(i.views, view{k.Log.Host, waits.Last(clocks, k, latest), waits.First(clocks, k, first, waits.Leaving)})
	return &i.views[len(i.views)-1]
}

// firstBut returns, for each machine, the member that began first. It leaves out member m.
func (i *instance) firstBut(m *member) (out []*waits.Stay) {
	for at := range i.camps {
		first := i.camps[at].first[0]
		if first == m {
			first = i.camps[at].first[1]
		}
		if first != nil {
			out = append(out, &first.Stay)
		}
	}
	return out
}

// latestUpTo returns, for each machine, the member that began last among m and the ranks below m.
func (i *instance) latestUpTo(m *member) (out []*waits.Stay) {
	for at := range i.camps {
		c := &i.camps[at]
		if c.upTo == nil {
			for _, x := range c.members {
				if n := len(c.upTo); n > 0 && x.Start <= c.upTo[n-1].Start {
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
			out = append(out, &c.upTo[n-1].Stay)
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

// hub returns the machine of the root, or of the lowest rank. Orders of an instance are told
// between the hub and each other machine, and not between every two machines.
func (i *instance) hub() *camp {
	if i.pattern.Rooted() && i.rooted != nil {
		return i.camp(i.rooted)
	}
	return i.camp(i.members[0])
}

// neededBy returns the last of the machine's members that m needs; nil: m needs none of them.
func (c *camp) neededBy(m *member) (last *member) {
	if m.needs(c.latest) {
		return c.latest
	}
	for _, o := range c.members {
		if (last == nil || o.Start > last.Start) && m.needs(o) {
			last = o
		}
	}
	return last
}
