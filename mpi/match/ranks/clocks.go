package ranks

import "ompp-attach/mpi/match"

// Clocks compares times of ranks, which may be on several machines. It also tells which events
// certainly came before others.
type Clocks struct {
	compare match.Clocks // nil: only times of one machine are compared
	tell    Tell         // nil: not wanted
}

// Tell takes two events on two machines, in the order in which they certainly happened. The earlier
// event is of the log first, at the time at. The later event is of the log then, at the time by.
// Each time is of its log's own clock.
type Tell func(first *match.RankCalls, at uint64, then *match.RankCalls, by uint64)

// NewClocks returns Clocks. Without compare, only times of one machine are compared. Without tell,
// no orders are told.
func NewClocks(compare match.Clocks, tell Tell) *Clocks { return &Clocks{compare, tell} }

// Comparable reports whether times of two ranks can be compared.
func (c *Clocks) Comparable(a, b *Rank) bool {
	return a.Log.Host == b.Log.Host || c.compare != nil && c.compare.Comparable(a.Log.Host, b.Log.Host)
}

// Seen translates a time t of the rank of to the clock of the rank by. bound is how wrong the
// result may be at most (ns).
func (c *Clocks) Seen(by, of *Rank, t uint64) (at uint64, bound int64) {
	if by.Log.Host == of.Log.Host {
		return t, 0
	}
	return c.compare.Convert(by.Log.Host, of.Log.Host, t)
}

// Common converts a time of a rank to the clock of the first rank. If the clocks cannot be
// compared, the time stays as it is.
func (c *Clocks) Common(first, k *Rank, t uint64) uint64 {
	if first.Log.Host != k.Log.Host && c.Comparable(first, k) {
		t, _ = c.Seen(first, k, t)
	}
	return t
}

// Tells reports whether somebody wants to know the orders of events.
func (c *Clocks) Tells() bool { return c.tell != nil }

// Tell notes that an event of the rank first came before one of the rank then.
func (c *Clocks) Tell(first *Rank, at uint64, then *Rank, by uint64) {
	if c.tell != nil && first.Log.Host != then.Log.Host {
		c.tell(first.Log, at, then.Log, by)
	}
}

// apart reports whether members of a group ran on machines of which the clocks cannot be compared.
func (c *Clocks) apart(g *Group) bool {
	var first *Rank
	for _, k := range g.Members {
		if first == nil {
			first = k
		}
		if !c.Comparable(first, k) {
			return true
		}
	}
	return false
}
