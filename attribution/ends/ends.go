// Package ends estimates how long threads take from the moment at which they can go on to the end
// of a call. It does so where that end was not reported. The estimates come from ends that were.
//
//   - ends.go: the estimates of one thread, and what is learnt from a reported end
//   - mean.go: an estimate; stratum.go: its executions with about the same gap
package ends

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Kind names ends of calls that take about the same time: the ends with one edge in one region. A
// nil node stands for all regions.
type Kind struct {
	Node *tree.Node
	Edge event.Edge
	// Alone: the times are whole waits in a barrier, of which the arrivals are not known.
	Alone bool
}

// Ends are the estimates of one thread. The zero value has none.
type Ends struct {
	means  map[Kind]*Mean
	lesson Lesson // begun is 0: there is none
}

// Of returns two estimates of a kind of ends. The first is that of its region, which may be empty.
// The second is that of all regions, which may be nil.
func (es *Ends) Of(k Kind) (region, all *Mean) {
	region = es.mean(k)
	k.Node = nil
	return region, es.means[k]
}

// mean returns the estimate of a kind, and makes it if need be.
func (es *Ends) mean(k Kind) *Mean {
	if es.means == nil {
		es.means = map[Kind]*Mean{}
	}
	if es.means[k] == nil {
		es.means[k] = &Mean{waits: k.Alone}
	}
	return es.means[k]
}

// Sum adds to each region's figures how exact the thread's derived ends are.
func (es *Ends) Sum() {
	for k, y := range es.means {
		e := y.derived(es.means[Kind{Edge: k.Edge, Alone: k.Alone}])
		if e.Count == 0 || k.Node == nil {
			continue
		}
		var x profile.Ends
		switch k.Edge {
		case event.Begin:
			x.Startup = e
		case event.Waited:
			x.Barrier = e
		case event.Join:
			x.Shutdown = e
		}
		s := k.Node.Stat(y.seat)
		s.Ends = s.Ends.Plus(&x)
	}
}

// Lesson is a reported end of a call. What is to be learnt from it is known at the thread's next
// event, which tells its gap.
type Lesson struct {
	Node   *tree.Node // of the region
	Edge   event.Edge
	Weight Weight
	Begun  uint64 // of the call (ns)
	From   uint64 // when the thread could go on (ns); 0: it is not known
	At     uint64 // of the end (ns)
	Idle   bool   // the thread waited for a core in the call, or before its next event
}

// Learn notes a reported end.
func (es *Ends) Learn(l Lesson) { es.lesson = l }

// Learns tells whether there is a lesson, which waits for the thread's next event.
func (es *Ends) Learns() bool { return es.lesson.Begun != 0 }

// Conclude learns from the last reported end, at the time of the thread's next event (ns). idle
// says that the thread has waited for a core since. A derived end has no hit at the call's return.
// So the cost of that hit is taken out.
func (es *Ends) Conclude(next uint64, idle bool, cost event.HitCost) {
	l := es.lesson
	es.lesson = Lesson{}
	l.Idle = l.Idle || idle
	next = max(l.At, next) - min(uint64(cost.Sum()), max(l.At, next))
	if l.From != 0 {
		es.add(&l, l.From, next, false, cost)
	}
	if l.From == 0 || l.Edge == event.Waited { // the team's arrivals may be missing some day
		es.add(&l, l.Begun, next, true, cost)
	}
}

// add adds an execution to the estimates of its region and of all regions.
func (es *Ends) add(l *Lesson, from, next uint64, alone bool, cost event.HitCost) {
	k := Kind{Edge: l.Edge, Alone: alone}
	for _, n := range []*tree.Node{l.Node, nil} {
		k.Node = n
		es.mean(k).Learn(ledger.Between(from, l.At)-cost.Before, Gap{ledger.Between(from, next), l.Idle}, l.Weight)
		if l.Node == nil {
			return
		}
	}
}

// Forget forgets the last reported end.
func (es *Ends) Forget() { es.lesson = Lesson{} }
