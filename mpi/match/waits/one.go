package waits

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// One is a wait in a call of a rank, for one operation, with the rank that caused the wait. Times
// are in ns.
type One struct {
	Property, After match.Property // of Wait, and of Rest
	Wait, Rest      int64          // until the other rank came, and from then on
	Due             match.Place
	Sent            uint64       // when the late sender sent
	From            *ranks.Rank  // the late sender
	Overtakes       bool         // the send overtook an older send of its rank
	Last            match.Origin // the last event for which the call had to wait
	// Bound and RestBound are how wrong Wait and Rest may be, because clocks of several machines
	// are compared.
	Bound, RestBound int64
	least, most      int64
	unsure           bool // the wait may be due to another call
}

// Since sets the wait of a call that began at start. The wait lasted until the moment at which
// another rank entered its own call.
func (l *One) Since(start uint64, o Moment) {
	if o.Of != nil {
		l.Wait, l.Bound, l.Due, l.unsure = int64(o.At)-int64(start), o.Bound, o.Of.At, o.Unsure
	}
}

// OnlyIf makes the wait depend on a time t, which has a bound (ns). If t is certainly not above 0,
// there is no wait. If this is not certain, the bound of the wait grows until it includes 0.
func (l *One) OnlyIf(t, bound int64) {
	switch {
	case t <= -bound:
		l.Wait, l.Bound = 0, 0
	case t <= bound:
		l.Bound = max(l.Bound, l.Wait) // there may be no wait
	}
}

// exceeds reports whether the wait l counts, and not another wait o of the same call. If a call
// waited equally long to send and to receive, the receive counts.
func (l *One) exceeds(o *One) bool {
	switch {
	case l.Wait != o.Wait:
		return l.Wait > o.Wait
	case l.Wait > 0 && l.Property != o.Property:
		return l.Property < o.Property
	}
	return l.Rest > o.Rest
}

// clip limits a wait to the length of its call (ns), and sets its least and most value.
func (l *One) clip(length int64) {
	within := func(t int64) int64 { return max(0, min(t, length)) }
	l.least, l.most, l.Wait = within(l.Wait-l.Bound), within(l.Wait+l.Bound), within(l.Wait)
	if l.Rest = within(min(l.Rest, length-l.Wait)); l.Rest <= l.RestBound {
		l.Rest, l.RestBound = 0, 0
	}
}
