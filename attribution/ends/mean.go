package ends

import (
	"math"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Mean estimates the time from the moment at which a thread can go on to the end of its call:
// startup, release or shutdown. The gap is the time from the same moment to the thread's next
// event. The gap is known of every execution. It is long if the thread lost its core, or waited for
// a thread that did. So executions stand only for others with about the same gap (stratified
// sampling, ratio estimator: Cochran, Sampling Techniques, chapters 5 and 6). Executions in which
// the thread waited for a core have strata of their own.
//
// Executions that chance chose stand for executions with a derived end. The first executions of a
// place are reported, too, but are slower than later ones. So they are used only as long as there
// are no others.
type Mean struct {
	strata []stratum
	// Sums over the executions that chance chose, each times its weight, without those of longEnd
	// or more: of times and gaps (ns), and of 1.
	sum, gaps, n float64
	first        float64 // a moving mean of the times of the others, ns
	any          bool
	// Sums over the reported executions with long gaps: of the part of its gap that each took,
	// and the number of executions.
	longs, ofLongs float64
	seat           int  // of the latest execution whose end was derived
	waits          bool // the times are waits for others, of any length: none is left out as long
}

const (
	// guesses is the number of executions that a guess counts for.
	guesses = 1
	// longEnd is the least time (ns) of an unusual end: the thread had no core, slept, or waited
	// for a thread that did.
	longEnd = 100e3
)

// Weight tells for how many derived ends a reported end stands, compared with ends that chance
// chose at first: one of 16 is reported at first, later one of 32 (bpf/sparse.h).
type Weight float64

// The weights.
const (
	NotByChance Weight = 0 // the end stands for no others
	AtFirst     Weight = 1
	Seldom      Weight = 31. / 15
)

// WeightOf returns the weight of an end by the flags of its call.
func WeightOf(f event.Flag) Weight {
	switch {
	case f&event.ByChance == 0:
		return NotByChance
	case f&event.Seldom != 0:
		return Seldom
	}
	return AtFirst
}

// Learn adds the time of a reported execution, in ns.
func (y *Mean) Learn(d int64, g Gap, w Weight) {
	d = max(0, d)
	g.Time = max(d, g.Time)
	gap, v, s := max(1, g.Time), float64(d), y.makeStratum(g)
	s.learn(v, float64(gap), w)
	if s.long {
		y.longs, y.ofLongs = y.longs+v/float64(gap), y.ofLongs+1
	}
	switch {
	case w != NotByChance:
		if v < longEnd || y.waits {
			n := float64(w)
			y.sum, y.gaps, y.n = y.sum+n*v, y.gaps+n*float64(gap), y.n+n
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

// guess returns the part of a gap that an execution takes, guessed from executions with other gaps
// and of other regions. others is the Mean of all regions, or nil. For a short gap, the guess is a
// usual time; for a longer one, the usual part of a gap. If nothing is known, the guess is 0.
func (y *Mean) guess(gap Gap, others *Mean) float64 {
	g := float64(gap.Time)
	if !y.known() {
		if !others.known() {
			return 0
		}
		y = others
	}
	r := y.usual() / g
	if y.gaps > 0 {
		r = max(r, y.sum/y.gaps)
	}
	r = min(1, r)
	if gap.digits() >= longGap {
		known := y
		if others != nil {
			known = others
		}
		r = (known.longs + guesses*r) / (known.ofLongs + guesses)
	}
	if s := others.stratum(gap); s != nil {
		r = s.shareOfAll(g, r)
	}
	return r
}

// Derive returns the time (ns) of an execution of a seat with an end that was not reported. The sum
// of all results follows the present estimate. An execution gets more if earlier ones got too
// little, and less if they got too much.
func (y *Mean) Derive(gap Gap, others *Mean, seat int) int64 {
	if gap.Time <= 0 {
		return 0
	}
	y.seat = seat
	g, r, s := float64(gap.Time), y.guess(gap, others), y.makeStratum(gap)
	s.all, s.squares, s.derived = s.all+g, s.squares+g*g, s.derived+1
	s.guessed += r * g
	r = s.share(g, r)
	d := math.Trunc(min(max(s.due()-s.given, r*g/2), 2*r*g, g))
	s.given += d
	return int64(d)
}

// derived returns the sum of the derived times, and how exact the sum is. others is the Mean of all
// regions, or nil. The guesses of all strata have one source, so their errors add up.
func (y *Mean) derived(others *Mean) (e profile.End) {
	known, doubts := y.ofLongs, 0.0
	if others != nil {
		known = others.ofLongs
	}
	for i := range y.strata {
		if s := &y.strata[i]; s.derived > 0 {
			e.Add(&profile.End{Count: uint64(s.derived), Time: int64(s.given), Due: int64(s.due()), Variance: s.variance(others.like(s))})
			doubts += s.doubt(known)
		}
	}
	e.Variance += doubts * doubts
	return e
}

// Fits tells whether a usual execution is over after some time (ns).
func (y *Mean) Fits(gap int64, others *Mean) bool {
	if !y.known() && others.known() {
		y = others
	}
	return float64(gap) >= y.usual()
}
