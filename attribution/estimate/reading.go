package estimate

import (
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

func (v *amounts) scale(by float64) {
	for i := range v {
		v[i] *= by
	}
}

// fit shortens all times in proportion, so that the executions take at most the given time.
func (v *amounts) fit(time float64) {
	if v[0] <= time {
		return
	}
	by := max(0, time) / v[0]
	for i := 0; i < len(v); i += 2 {
		v[i] *= by
	}
}

// numAmounts is the number of extrapolated figures: the time and the count of each of ThreadStats'
// spans.
const numAmounts = 2 * profile.NumParts

type amounts [numAmounts]float64

// amountsOf returns a seat's figures, with the cost of probes taken out of the times.
func amountsOf(s *profile.ThreadStats) (v amounts) {
	var cost profile.Cost
	if s.Cost != nil {
		cost = *s.Cost
	}
	paid := cost.Parts()
	for i, x := range s.Parts() {
		v[2*i], v[2*i+1] = float64(x.T-*paid[i]), float64(x.C)
	}
	return v
}

// reading holds the figures of some constructs when the threads came to a change.
type reading struct {
	seats   []seatReading
	amounts map[*tree.Node][]amounts
	spreads map[*tree.Node][]tree.Spread
	within  map[*tree.Node][]tree.Presence // by region and seat
}

// seatReading holds the figures of a seat's thread.
type seatReading struct {
	known bool
	own   int64 // the measurement's cost for the thread so far, ns
	cpu   int64 // processor time so far, ns; 0: not known
	delay int64 // time waiting for a core so far, ns
	dense int64 // the part of own in blocks of which probes took most of the time, ns (pace.go)
}

func (r *reading) seat(i int) (x seatReading) {
	if i < len(r.seats) {
		x = r.seats[i]
	}
	return x
}

// readSeat notes the figures of a seat without a thread.
func (g *Gaps) readSeat(c *Moment, seat int) {
	g.Read(c, seat, 0, func(n *tree.Node) tree.Presence { return n.Presence(seat) })
}

// Read notes the figures of a seat until a change. tid is the seat's thread, and present returns
// its presence in a region until then.
func (g *Gaps) Read(c *Moment, seat int, tid uint32, present func(*tree.Node) tree.Presence) {
	r := &c.seen
	for len(r.seats) <= seat {
		r.seats = append(r.seats, seatReading{})
	}
	if r.amounts == nil {
		r.amounts, r.spreads, r.within = map[*tree.Node][]amounts{}, map[*tree.Node][]tree.Spread{}, map[*tree.Node][]tree.Presence{}
	}
	x := seatReading{known: true, cpu: c.CPU[tid], delay: c.Delay[tid], dense: g.tree.Root.Present(seat).Dense}
	if s := g.tree.Root.Stat(seat); s.Cost != nil {
		x.own = s.Cost.Exec
	}
	r.seats[seat] = x
	g.tree.Root.Each(^event.Constructs(0), func(n *tree.Node) {
		if c.Of.Has(n.Key.Element()) && seat < len(n.Stats) {
			setSeat(r.amounts, n, seat, amountsOf(&n.Stats[seat]))
			setSeat(r.spreads, n, seat, n.SpreadUntil(seat))
		}
		// Also if none of the constructs has been seen there: they may have been executed.
		if n.IsRegion() {
			setSeat(r.within, n, seat, present(n))
		}
	})
}

// executions is the number of executions of the constructs, of all seats.
func (r *reading) executions() (n uint64) {
	for _, seats := range r.amounts {
		for i := range seats {
			n += uint64(seats[i][1])
		}
	}
	return n
}

func setSeat[V any](m map[*tree.Node][]V, n *tree.Node, seat int, v V) {
	have := m[n]
	for len(have) <= seat {
		var none V
		have = append(have, none)
	}
	have[seat] = v
	m[n] = have
}

func getSeat[V any](m map[*tree.Node][]V, n *tree.Node, seat int) (v V) {
	if have := m[n]; seat < len(have) {
		return have[seat]
	}
	return v
}
