package stack

import (
	"math/bits"

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
// call: startup, release or shutdown. The gap is the time from the same moment to the thread's next
// event. It is known of every execution, and says much: a thread that lost its core, or had to wait
// for one that did, has a long gap. So executions stand for others with about the same gap only
// (stratified sampling, ratio estimator: Cochran, Sampling Techniques, chapters 5 and 6).
//
// Only executions that chance chose stand for those whose end is derived. The first executions of a
// place are slower than the others. They are used as long as there are no others.
type Mean struct {
	strata []stratum // by gap
	// Of all executions that chance chose, less long ones: their times and gaps (ns), their number.
	sum, gaps, n float64
	first        float64 // of the latest of the others, ns
	any          bool
	waits        bool // a wait for others may be as long as it likes
	// Of reported executions with long gaps: sum of the parts of the gaps that they took, and number.
	longs, ofLongs float64
}

// stratum holds the executions of which the gap has the same number of binary digits.
type stratum struct {
	digits           int
	sum, gaps        float64 // of executions that chance chose, ns
	early, earlyGaps float64 // of the other reported ones, ns
	// Of executions whose end was derived: gaps, what was guessed for them, what they got (ns), and
	// their number.
	all, guessed, given, derived float64
}

const (
	// guesses is how many executions a guess counts for that is made before any is known.
	guesses = 2
	// longEnd is the time (ns) from which on an end is not usual: its thread had no core, or slept, or
	// waited for one that did.
	longEnd = 100e3
)

// stratum returns the executions with such a gap (ns), nil if none is known.
func (y *Mean) stratum(gap int64) *stratum {
	if y == nil {
		return nil
	}
	digits := bits.Len64(uint64(gap))
	for i := range y.strata {
		if y.strata[i].digits == digits {
			return &y.strata[i]
		}
	}
	return nil
}

// makeStratum returns the executions with such a gap (ns).
func (y *Mean) makeStratum(gap int64) *stratum {
	if s := y.stratum(gap); s != nil {
		return s
	}
	y.strata = append(y.strata, stratum{digits: bits.Len64(uint64(gap))})
	return &y.strata[len(y.strata)-1]
}

// Learn adds the time of a reported execution, and its gap, in ns.
func (y *Mean) Learn(d, gap int64, byChance bool) {
	d = max(0, d)
	gap = max(d, gap)
	v, s := float64(d), y.makeStratum(gap)
	if gap >= longEnd {
		y.longs, y.ofLongs = y.longs+v/float64(gap), y.ofLongs+1
	}
	if !byChance {
		s.early += v
		s.earlyGaps += float64(gap)
	}
	switch {
	case byChance:
		s.sum += v
		s.gaps += float64(gap)
		if v < longEnd || y.waits {
			y.sum, y.gaps, y.n = y.sum+v, y.gaps+float64(gap), y.n+1
		}
	case !y.any:
		y.first = v
	default:
		y.first += (min(v, 4*y.first+1e3) - y.first) / 8
	}
	y.any = true
}

func (y *Mean) known() bool { return y != nil && y.any }

// usual is the time that executions take on average, ns.
func (y *Mean) usual() float64 {
	if y.n > 0 {
		return y.sum / y.n
	}
	return y.first
}

// guess returns which part of a gap the executions take, before anything is known of such gaps in the
// region. others is what is known of all regions, or nil. Without that, the guess is a usual time, and
// of longer gaps the usual part.
func (y *Mean) guess(gap int64, others *Mean) float64 {
	g := float64(gap)
	r := y.usual() / g
	if y.gaps > 0 {
		r = max(r, y.sum/y.gaps)
	}
	r = min(1, r)
	if others != nil && gap >= longEnd {
		r = (others.longs + guesses*r) / (others.ofLongs + guesses)
	}
	s := others.stratum(gap)
	if s == nil {
		return r
	}
	return s.share(g, (s.early+guesses*g*r)/(s.earlyGaps+guesses*g))
}

// share is what the executions tell of a gap (ns), where r was the guess before.
func (s *stratum) share(gap, r float64) float64 {
	if s == nil {
		return r
	}
	return (s.sum + guesses*gap*r) / (s.gaps + guesses*gap)
}

// Derive returns how long an execution took whose end was not reported. gap is the time until the
// thread's next event. Both are in ns. The sum of all that Derive returns follows what is known now:
// an execution gets more, or less, if earlier ones got too little, or too much.
func (y *Mean) Derive(gap int64, others *Mean) int64 {
	if gap <= 0 {
		return 0
	}
	g := float64(gap)
	r := y.guess(gap, others)
	s := y.makeStratum(gap)
	s.all, s.guessed, s.derived = s.all+g, s.guessed+r*g, s.derived+1
	r = s.share(g, r)
	due := s.share(s.all/s.derived, s.guessed/s.all) * s.all
	d := min(max(due-s.given, r*g/2), 2*r*g, g)
	s.given += d
	return int64(d)
}

// Fits tells whether a usual execution is over after some time (ns).
func (y *Mean) Fits(gap int64) bool { return float64(gap) >= y.usual() }

// Means returns what is known of a pending end: of its region, and of all regions. If nothing is
// known of the region, all regions have to do.
func (t *Thread) Means(x *Edge) (region, all *Mean) {
	k := MeanKey{Node: x.Node, Edge: x.Edge, Alone: x.Alone()}
	region = t.means[k]
	k.Node = nil
	all = t.means[k]
	switch {
	case region.known():
		return region, all
	case all.known():
		return all, all
	}
	return &Mean{}, nil
}

// lesson is a reported end of a call, of which the gap is not known yet.
type lesson struct {
	key      MeanKey
	byChance bool
	begun    uint64 // of the call; 0: there is no lesson
	from     uint64 // when the thread could go on; 0: it is not known
	at       uint64
	next     uint64 // the thread's next event
}

// Learn notes a reported end at a time.
func (t *Thread) Learn(x *Edge, at uint64) {
	t.lesson = lesson{key: MeanKey{Node: x.Node, Edge: x.Edge}, byChance: x.Enter.Flags&event.ByChance != 0, begun: x.Enter.Time, at: at}
	if !x.Alone() {
		t.lesson.from = x.From(at)
	}
}

// Learns tells whether there is something to be learnt at the thread's next event.
func (t *Thread) Learns() bool { return t.lesson.begun != 0 }

// LearnEdge learns from the thread's last reported end, at the time of the thread's next event.
// Derived ends have no return of a call, which takes some time.
func (t *Thread) LearnEdge(next uint64, cost event.HitCost) {
	l := t.lesson
	t.lesson = lesson{}
	l.next = max(l.at, next) - min(uint64(cost.Sum()), max(l.at, next))
	if l.from != 0 {
		t.learn(&l, l.from, cost)
	}
	if l.from == 0 || l.key.Edge == event.Waited { // the team's arrivals may be missing some day
		l.key.Alone = true
		t.learn(&l, l.begun, cost)
	}
}

func (t *Thread) learn(l *lesson, from uint64, cost event.HitCost) {
	if t.means == nil {
		t.means = map[MeanKey]*Mean{}
	}
	k := l.key
	for _, n := range []*tree.Node{l.key.Node, nil} {
		k.Node = n
		y := t.means[k]
		if y == nil {
			y = &Mean{waits: k.Alone}
			t.means[k] = y
		}
		y.Learn(ledger.Span(from, l.at)-cost.Before, ledger.Span(from, l.next), l.byChance)
		if l.key.Node == nil {
			return
		}
	}
}

// ForgetEdges forgets the pending end, and what is to be learnt.
func (t *Thread) ForgetEdges() { t.Edge, t.lesson = Edge{}, lesson{} }
