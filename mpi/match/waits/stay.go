package waits

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// Stay is a rank's time in a call.
type Stay struct {
	Rank       *ranks.Rank
	Call       int // number of the call
	At         match.Place
	Start, End uint64
}

// StayIn returns the stay in the latest call of a rank.
func StayIn(k *ranks.Rank, c *match.Call) Stay {
	return Stay{Rank: k, Call: k.Call, At: k.Place(c), Start: c.Start, End: c.End}
}

// Waiter returns a new Waiter of the call, which waits for one operation.
func (s *Stay) Waiter() *Waiter { return &Waiter{Stay: *s, Open: 1} }

// Entering returns when the rank entered the call.
func Entering(s *Stay) uint64 { return s.Start }

// Leaving returns when the rank left the call.
func Leaving(s *Stay) uint64 { return s.End }

// Moment is the time at which the last, or the first, of several ranks entered or left a call, by
// one clock.
type Moment struct {
	At     uint64
	Bound  int64 // how wrong At may be (ns)
	Of     *Stay // nil: there is none
	Unsure bool  // another rank may have been last, or first
}

// Entered returns the moment as an origin: a rank entered a call.
func (o Moment) Entered() match.Origin {
	if o.Of == nil {
		return match.Origin{}
	}
	return match.Origin{Rank: o.Of.Rank.Index, Call: o.Of.Call, At: o.At, Bound: o.Bound, Unsure: o.Unsure}
}

// Last returns when the last of several ranks entered, by the clock of a rank.
func Last(clocks *ranks.Clocks, by *ranks.Rank, stays []*Stay) Moment {
	return pick(clocks, by, stays, 1, Entering)
}

// First returns when the first of several ranks entered or left (when), by the clock of a rank.
func First(clocks *ranks.Clocks, by *ranks.Rank, stays []*Stay, when func(*Stay) uint64) Moment {
	return pick(clocks, by, stays, -1, when)
}

// pick finds the last (sign 1) or the first (sign -1) of several ranks by a time of each (when).
func pick(clocks *ranks.Clocks, by *ranks.Rank, stays []*Stay, sign int64, when func(*Stay) uint64) Moment {
	if len(stays) == 0 {
		return Moment{}
	}
	type seen struct{ least, at, most int64 }
	var best seen
	var of *Stay
	most, rival := int64(minTime), int64(minTime)
	for _, m := range stays {
		at, bound := clocks.Seen(by, m.Rank, when(m))
		s := seen{sign*int64(at) - bound, sign * int64(at), sign*int64(at) + bound}
		most = max(most, s.most)
		other := s
		if of == nil || s.at > best.at {
			if of == nil {
				other.most = minTime
			} else {
				other = best
			}
			best, of = s, m
		}
		rival = max(rival, other.most)
	}
	// The true time may lie beyond the best one by bound. On the other side of the best one, only
	// its own bound counts, and that is no larger.
	bound := most - best.at
	return Moment{uint64(sign * best.at), bound, of, bound > 0 && rival > best.least}
}

const minTime = -1 << 63
