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

// amountsOf returns a row's figures, with the cost of probes taken out of the times.
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
	rows    []rowReading
	amounts map[*tree.Node][]amounts
	spreads map[*tree.Node][]tree.Spread
	within  map[*tree.Node][]tree.Presence // by region and row
}

// rowReading holds the figures of a row's thread.
type rowReading struct {
	known bool
	own   int64 // the measurement's cost for the thread so far, ns
	cpu   int64 // processor time so far, ns; 0: not known
	delay int64 // time waiting for a core so far, ns
	dense int64 // the part of own in blocks of which probes took most of the time, ns (pace.go)
}

func (r *reading) row(i int) (x rowReading) {
	if i < len(r.rows) {
		x = r.rows[i]
	}
	return x
}

// readRow notes the figures of a row without a thread.
func (g *Gaps) readRow(c *Moment, row int) {
	g.Read(c, row, 0, func(n *tree.Node) tree.Presence { return n.Presence(row) })
}

// Read notes the figures of a row until a change. tid is the row's thread, and present returns its
// presence in a region until then.
func (g *Gaps) Read(c *Moment, row int, tid uint32, present func(*tree.Node) tree.Presence) {
	r := &c.seen
	for len(r.rows) <= row {
		r.rows = append(r.rows, rowReading{})
	}
	if r.amounts == nil {
		r.amounts, r.spreads, r.within = map[*tree.Node][]amounts{}, map[*tree.Node][]tree.Spread{}, map[*tree.Node][]tree.Presence{}
	}
	x := rowReading{known: true, cpu: c.CPU[tid], delay: c.Delay[tid], dense: g.tree.Root.Present(row).Dense}
	if s := g.tree.Root.Stat(row); s.Cost != nil {
		x.own = s.Cost.Exec
	}
	r.rows[row] = x
	g.tree.Root.Each(^event.Constructs(0), func(n *tree.Node) {
		if c.Of.Has(n.Key.Construct) && row < len(n.Stats) {
			setRow(r.amounts, n, row, amountsOf(&n.Stats[row]))
			setRow(r.spreads, n, row, n.SpreadUntil(row))
		}
		// Also if none of the constructs has been seen there: they may have been executed.
		if n.IsRegion() {
			setRow(r.within, n, row, present(n))
		}
	})
}

func setRow[V any](m map[*tree.Node][]V, n *tree.Node, row int, v V) {
	have := m[n]
	for len(have) <= row {
		var none V
		have = append(have, none)
	}
	have[row] = v
	m[n] = have
}

func getRow[V any](m map[*tree.Node][]V, n *tree.Node, row int) (v V) {
	if have := m[n]; row < len(have) {
		return have[row]
	}
	return v
}
