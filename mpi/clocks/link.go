package clocks

import (
	"math"
	"sort"
)

// Link says how far the clocks of two machines are apart.
type Link struct {
	A, B int // numbers of the clocks; A < B
	// Forth counts the orders of an event at A before one at B, Back the reverse.
	Forth, Back uint64
	// Messages: orders both ways bound the difference. Synchronised: the kernels' claims bound it.
	// If neither is set, the difference is not known.
	Messages, Synchronised bool
	// Unsteady: the difference is not linear in time, not even within the clocks' wander. So its
	// slope may be anything up to steepest.
	Unsteady bool
	// Conflict is by how much bounds contradict each other, at most (ns); 0: nothing contradicts.
	// If Messages is set, or orders go one way only, the kernels' claims contradict the orders.
	// Otherwise orders contradict orders.
	Conflict int64
	// Offset is the difference A - B (ns), in the middle of the time that has bounds. The slope of
	// the difference is between Least and Most, as shares.
	Offset      int64
	Least, Most float64
	// Bound is the error of the difference that is possible (ns): the mean over the time that has
	// bounds.
	Bound int64

	origin    int64 // shifted time of B that x counts from
	from, to  float64
	low, high envelope // of θ, and of -θ
}

// envelope is a lower bound of a function at each time. It is the greatest lower bound that follows
// from the points and the range of slopes.
type envelope struct {
	points []point // by time, all on the envelope
	slopes
}

// over returns the envelope of a function that is nowhere below the points.
func over(points []point, s slopes) envelope {
	list := append([]point(nil), points...)
	for i := 1; i < len(list); i++ {
		list[i].y = max(list[i].y, list[i-1].y+s.least*(list[i].x-list[i-1].x))
	}
	for i := len(list) - 2; i >= 0; i-- {
		list[i].y = max(list[i].y, list[i+1].y-s.most*(list[i+1].x-list[i].x))
	}
	return envelope{list, s}
}

func (e *envelope) at(x float64) float64 {
	i := sort.Search(len(e.points), func(i int) bool { return e.points[i].x > x })
	v := math.Inf(-1)
	if i > 0 {
		p := &e.points[i-1]
		v = p.y + e.least*(x-p.x)
	}
	if i < len(e.points) {
		p := &e.points[i]
		v = max(v, p.y-e.most*(p.x-x))
	}
	return v
}

// orders are the bounds that follow from the orders of events on two machines.
type orders struct {
	origin    int64
	low, high *bounds // of θ, and of -θ
}

// interval returns the least and the greatest θ at a time of B's clock.
func (k *Link) interval(x float64) (lo, hi float64) { return k.low.at(x), -k.high.at(x) }

// usable reports whether the difference is known.
func (k *Link) usable() bool { return k.Messages || k.Synchronised }

// solve finds the envelopes from orders (low: of θ, high: of -θ) and from the kernels' claims
// (known: of both). Claims that contradict the orders are left out.
func (k *Link) solve(low, high, known []point, wander float64) {
	both := len(low) > 0 && len(high) > 0
	if both {
		k.Messages = k.fit(low, high, wander)
	}
	if len(known) == 0 || both && !k.Messages {
		return
	}
	was := *k
	lowK, highK := known, known // the same list serves for both: |θ| <= -y
	k.Synchronised = k.fit(merge(low, lowK), merge(high, highK), wander)
	if !k.Synchronised {
		conflict := k.Conflict
		*k = was
		k.Conflict = conflict
	}
}

func merge(a, b []point) []point {
	return undominated(append(append([]point(nil), a...), b...))
}

// fit sets the envelopes. If no function lies between all bounds, fit returns false and sets
// Conflict.
func (k *Link) fit(low, high []point, wander float64) bool {
	s := lines(low, negative(high))
	if straight := (slopes{max(-steepest, s.least-2*wander), min(steepest, s.most+2*wander)}); s.least-wander <= s.most+wander && straight.least <= straight.most {
		if k.set(low, high, straight) <= 0 {
			k.Unsteady, k.Conflict = false, 0
			k.Least, k.Most = max(-steepest, s.least-wander), min(steepest, s.most+wander)
			return true
		}
	}
	any := slopes{-steepest, steepest}
	conflict := k.set(low, high, any)
	k.Unsteady, k.Least, k.Most = true, any.least, any.most
	k.Conflict = int64(math.Ceil(max(0, conflict)))
	return conflict <= 0
}

// set sets the envelopes. It returns by how much, at most, the lower envelope exceeds the upper
// one.
func (k *Link) set(low, high []point, s slopes) (conflict float64) {
	k.low, k.high = over(low, s), over(high, s.negative())
	conflict = math.Inf(-1)
	for _, p := range high {
		conflict = max(conflict, k.low.at(p.x)+p.y)
	}
	const rounding = 1 // ns
	return conflict - rounding
}

// OneWay reports whether all known orders go in one direction.
func (k *Link) OneWay() bool { return k.Forth == 0 || k.Back == 0 }

// measure sets Offset and Bound.
func (k *Link) measure() {
	k.from, k.to = math.Inf(1), math.Inf(-1)
	for _, e := range []*envelope{&k.low, &k.high} {
		if n := len(e.points); n > 0 {
			k.from, k.to = min(k.from, e.points[0].x), max(k.to, e.points[n-1].x)
		}
	}
	const samples = 64
	var sum float64
	for i := range samples {
		_, half := k.theta(k.from + (k.to-k.from)*(float64(i)+0.5)/samples)
		sum += half
	}
	mid, _ := k.theta((k.from + k.to) / 2)
	k.Offset, k.Bound = int64(math.Round(mid)), int64(math.Ceil(sum/samples))
}

// theta returns θ at a time of B, and how wrong θ may be at most (ns).
func (k *Link) theta(x float64) (mid, half float64) {
	lo, hi := k.interval(x)
	return (lo + hi) / 2, max(0, (hi-lo)/2)
}

// convert converts the time t of one clock of the link (from) to the time of the other one.
func (k *Link) convert(from int, t int64) (at int64, bound float64) {
	x := float64(t - k.origin)
	if from == k.B {
		mid, half := k.theta(x)
		return t + int64(math.Round(mid)), half
	}
	y := x
	var mid, half float64
	for range 5 { // slopes are small, so this converges at once
		mid, half = k.theta(y)
		y = x - mid
	}
	return t - int64(math.Round(mid)), half
}
