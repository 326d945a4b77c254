package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// MeanKey names the ends of calls that take about the same time: of one region and edge. A nil node
// stands for all regions.
type MeanKey struct {
	Node *tree.Node
	Edge event.Edge
	// Alone: the times are all of the waits in a barrier, see Edge.Alone.
	Alone bool
}

// Mean is what is known of the time from the moment at which a thread can go on to the end of its
// call: startup, release or shutdown. Only executions that chance chose stand for those whose end is
// derived. The first executions of a place are slower than the others. They are used as long as
// there are few others.
type Mean struct {
	sum   float64 // of the executions that chance chose, ns
	n     float64
	first float64 // of the latest of the others, ns
	any   bool
	waits bool    // a wait for others may be as long as it likes
	gaps  float64 // time until the threads' next events, of derived executions, ns
	of    float64 // number of these
	owed  float64 // time that derived executions got too little, as their next event came earlier, ns
}

const (
	// longEnd is the time (ns) from which on an end is not like the others: its thread had no core,
	// or slept. Where many are as long, hits are rare, and all ends are reported.
	longEnd = 100e3
	// enough is the number of executions chosen by chance that make a mean.
	enough = 8
	// mostOwed bounds what is owed, as a multiple of the mean.
	mostOwed = 64
)

// Learn adds the time of a reported execution, in ns.
func (y *Mean) Learn(d int64, byChance bool) {
	v := float64(max(0, d))
	switch {
	case v >= longEnd && !y.waits:
	case byChance:
		y.sum += v
		y.n++
	case !y.any:
		y.first = v
	default:
		y.first += (min(v, 4*y.first+1e3) - y.first) / 8
	}
	y.any = true
}

func (y *Mean) known() bool { return y != nil && y.any }

// usual is the time that most executions take, ns.
func (y *Mean) usual() float64 {
	if y.n >= enough || y.n > 0 && y.first == 0 {
		return y.sum / y.n
	}
	return y.first
}

// Derive returns how long an execution took whose end was not reported. gap is the time until the
// thread's next event, less the time without a core. Both are in ns.
func (y *Mean) Derive(gap int64) int64 {
	if y.waits {
		y.gaps += float64(gap)
	} else {
		y.gaps += min(float64(gap), longEnd)
	}
	y.of++
	usual := y.usual()
	d := int64(min(float64(gap), usual+y.owed))
	y.owed = min(usual+y.owed-float64(d), mostOwed*usual)
	return d
}

// Fits tells whether a usual execution is over after some time (ns).
func (y *Mean) Fits(gap int64) bool { return float64(gap) >= y.usual() }

// Share returns which part of the gaps such executions usually take: as much of the time without a
// core lies in them.
func (y *Mean) Share() float64 {
	if y.of == 0 || y.gaps <= 0 {
		return 0.5
	}
	return min(1, y.usual()*y.of/y.gaps)
}

// mean returns a thread's mean; nil if none is known.
func (t *Thread) mean(k MeanKey) *Mean {
	if y := t.means[k]; y.known() {
		return y
	}
	return nil
}

// Mean returns what is known of a pending end. If nothing is known of its region, the thread's
// other regions have to do.
func (t *Thread) Mean(x *Edge) *Mean {
	k := MeanKey{Node: x.Node, Edge: x.Edge, Alone: x.Alone()}
	if y := t.mean(k); y != nil {
		return y
	}
	k.Node = nil
	if y := t.mean(k); y != nil {
		return y
	}
	return &Mean{}
}

// Learn adds a reported end at a time. before is how much of it the hit took (ns).
func (t *Thread) Learn(x *Edge, at uint64, before int64) {
	alone := x.Alone()
	if !alone {
		t.learn(x, ledger.Span(x.From(at), at)-before, false)
	}
	if alone || x.Edge == event.Waited { // the team's arrivals may be missing some day
		t.learn(x, ledger.Span(x.Enter.Time, at)-before, true)
	}
}

func (t *Thread) learn(x *Edge, d int64, alone bool) {
	if t.means == nil {
		t.means = map[MeanKey]*Mean{}
	}
	for _, k := range []MeanKey{{x.Node, x.Edge, alone}, {nil, x.Edge, alone}} {
		y := t.means[k]
		if y == nil {
			y = &Mean{waits: alone}
			t.means[k] = y
		}
		y.Learn(d, x.Enter.Flags&event.ByChance != 0)
	}
}
