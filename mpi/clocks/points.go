package clocks

import (
	"cmp"
	"math"
	"slices"
)

// steepest is the most by which the rates of two clocks can differ, as a share. A kernel corrects a
// clock's rate by up to 500 millionths, and an oscillator is wrong by up to 100 millionths. With
// two clocks, that is twice the sum.
const steepest = 1200e-6

// point is a bound y of θ at a time x (ns). x counts from the link's origin.
type point struct{ x, y float64 }

func byTime(a, b point) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) }

// bounds keeps lower bounds of a function, the slope of which is within steepest. Memory is
// bounded: there are at most `most` stretches of time of equal length, with few points in each.
// Points that follow from others are left out first. If another point is left out, the interval
// becomes wider, but stays right.
type bounds struct {
	most   int
	length float64 // of a stretch, ns
	in     map[int64][]point
	n      uint64 // number of points that were added
}

const perStretch = 12

func newBounds(most int) *bounds {
	return &bounds{most: max(2, most), length: 1 << 20, in: map[int64][]point{}}
}

func (b *bounds) stretch(x float64) int64 { return int64(math.Floor(x / b.length)) }

func (b *bounds) add(p point) {
	b.n++
	b.put(p)
	for len(b.in) > b.most {
		was := b.in
		b.in, b.length = map[int64][]point{}, 2*b.length
		for _, list := range was {
			for _, q := range list {
				b.put(q)
			}
		}
	}
}

func (b *bounds) put(p point) {
	i := b.stretch(p.x)
	list := append(b.in[i], p)
	if len(list) > perStretch {
		list = thin(list)
	}
	b.in[i] = list
}

// thin returns a list of at most half of perStretch points.
func thin(list []point) []point {
	out := undominated(list)
	if len(out) <= perStretch/2 {
		return out
	}
	// Lines of several slopes are moved down until they touch a point. Keep these points.
	var kept []point
	for i := range perStretch / 2 {
		slope := steepest * (2*float64(i)/(perStretch/2-1) - 1) / 4
		best := slices.MaxFunc(out, func(a, b point) int { return cmp.Compare(a.y-slope*a.x, b.y-slope*b.x) })
		if !slices.Contains(kept, best) {
			kept = append(kept, best)
		}
	}
	slices.SortFunc(kept, byTime)
	return kept
}

// undominated leaves out points that say nothing new: no slope exceeds steepest, so such a point
// follows from another one. The result is sorted by time.
func undominated(list []point) []point {
	slices.SortFunc(list, byTime)
	var out []point
	for _, p := range list {
		for len(out) > 0 && p.y-steepest*(p.x-out[len(out)-1].x) >= out[len(out)-1].y {
			out = out[:len(out)-1]
		}
		if len(out) > 0 {
			if q := out[len(out)-1]; q.y-steepest*(p.x-q.x) >= p.y {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// list returns the kept points, by time.
func (b *bounds) list() []point {
	var out []point
	for _, list := range b.in {
		out = append(out, list...)
	}
	return undominated(out)
}

// slopes is a range of slopes.
type slopes struct{ least, most float64 }

func (s slopes) negative() slopes { return slopes{-s.most, -s.least} }

// lines returns the range of slopes of all lines that lie above the points of low and below those
// of high. Both lists are sorted by time. If least exceeds most, there is no such line.
func lines(low, high []point) slopes {
	return slopes{-rising(negative(high), negative(low)), rising(low, high)}
}

// rising returns the greatest slope that a line between low and high can have. It is the least
// slope from a point of low to a later point of high.
func rising(low, high []point) float64 {
	best := float64(steepest)
	var hull []point // the upper hull of points of low so far
	for _, q := range high {
		for len(low) > 0 && low[0].x < q.x {
			hull = extend(hull, low[0])
			low = low[1:]
		}
		if len(hull) > 0 {
			best = min(best, touching(hull, q))
		}
	}
	return best
}

func slope(a, b point) float64 { return (b.y - a.y) / (b.x - a.x) }

// extend adds a point to an upper hull. The point is no earlier than any of the hull.
func extend(hull []point, p point) []point {
	for n := len(hull); n > 0; n = len(hull) {
		last := hull[n-1]
		below := last.x == p.x && last.y <= p.y || n > 1 && last.x < p.x && slope(hull[n-2], p) >= slope(hull[n-2], last)
		if !below {
			break
		}
		hull = hull[:n-1]
	}
	if n := len(hull); n > 0 && hull[n-1].x == p.x {
		return hull
	}
	return append(hull, p)
}

// touching returns the least slope from a point of the hull to the later point q. It is the slope
// of the line through q that touches the hull.
func touching(hull []point, q point) float64 {
	i, j := 0, len(hull)-1
	for i < j { // slopes to q fall, then rise
		m := (i + j) / 2
		if slope(hull[m], q) <= slope(hull[m+1], q) {
			j = m
		} else {
			i = m + 1
		}
	}
	return slope(hull[i], q)
}

// negative changes the sign of each y. So lower bounds of -θ become upper bounds of θ.
func negative(list []point) []point {
	out := slices.Clone(list)
	for i := range out {
		out[i].y = -out[i].y
	}
	return out
}
