package clocks

import (
	"cmp"
	"math"
	"slices"
)

// Orders collects pairs of events on two machines. Of each pair it is certain which event came
// first.
type Orders struct {
	pairs map[[2]int]*orders
	most  int
}

// NewOrders returns an empty collection for a number of clocks.
func NewOrders(clocks int) *Orders {
	const all = 1 << 19
	pairs := max(1, clocks*(clocks-1)/2)
	return &Orders{map[[2]int]*orders{}, min(2048, max(64, all/pairs))}
}

// Add notes the order of two events. The first event was at the time at of the clock first. The
// second one was at the time by of the clock then.
func (o *Orders) Add(first, then int, at, by uint64) {
	if first == then {
		return
	}
	b, x := then, int64(by)
	if first > then {
		b, x = first, int64(at)
	}
	key := [2]int{min(first, then), b}
	p := o.pairs[key]
	if p == nil {
		p = &orders{x, newBounds(o.most), newBounds(o.most)}
		o.pairs[key] = p
	}
	// Event at A first: θ(by) >= at - by. Event at B first: θ(at) <= by - at.
	q := point{float64(x - p.origin), float64(int64(at) - int64(by))}
	if first < then {
		p.low.add(q)
	} else {
		p.high.add(q)
	}
}

// Alignment compares times of several clocks.
type Alignment struct {
	// Links are the pairs of machines with orders or claims, by A and B.
	Links  []Link
	clocks []Clock
	of     map[[2]int]*Link
	near   [][]*Link // by clock: its usable links
	routes map[int][]hop
}

// Align finds the differences of clocks, from the clocks' claims and from orders.
func Align(clocks []Clock, o *Orders) *Alignment {
	a := &Alignment{clocks: clocks, of: map[[2]int]*Link{}, near: make([][]*Link, len(clocks)), routes: map[int][]hop{}}
	pairs := o.pairs
	hub := slices.IndexFunc(clocks, func(c Clock) bool { return len(c.Known) > 0 })
	for i := range clocks {
		if pair := [2]int{min(hub, i), max(hub, i)}; hub >= 0 && i != hub && len(clocks[i].Known) > 0 && pairs[pair] == nil {
			pairs[pair] = &orders{clocks[pair[1]].Known[0].At, newBounds(2), newBounds(2)}
		}
	}
	for key, p := range pairs {
		k := Link{A: key[0], B: key[1], Forth: p.low.n, Back: p.high.n, origin: p.origin}
		k.solve(p.low.list(), p.high.list(), known(&clocks[k.A], &clocks[k.B], p.origin), clocks[k.A].Wander+clocks[k.B].Wander)
		if k.usable() {
			k.measure()
		}
		a.Links = append(a.Links, k)
	}
	slices.SortFunc(a.Links, func(x, y Link) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	for i := range a.Links {
		if k := &a.Links[i]; k.usable() {
			a.of[[2]int{k.A, k.B}] = k
			a.near[k.A], a.near[k.B] = append(a.near[k.A], k), append(a.near[k.B], k)
		}
	}
	return a
}

// known returns the bounds of |θ| that follow from both kernels' claims. The bounds have their
// signs changed, which makes them lower bounds of θ, and of -θ.
func known(a, b *Clock, origin int64) (out []point) {
	if len(a.Known) == 0 || len(b.Known) == 0 {
		return nil
	}
	for _, of := range []struct{ own, other *Clock }{{a, b}, {b, a}} {
		for _, x := range of.own.Known {
			// The other kernel made its claims at other times. Their bounds grow with the time in
			// between.
			other := int64(math.MaxInt64)
			for _, y := range of.other.Known {
				away := max(x.At-y.At, y.At-x.At)
				other = min(other, y.Error+int64(math.Ceil(steepest*float64(away))))
			}
			out = append(out, point{float64(x.At - origin), -float64(x.Error + other)})
		}
	}
	return undominated(out)
}

// resolution is the error of times because clocks show whole ns. It is the sum of three errors of 1
// ns: in the order that bounds the difference, in the two times that are compared, and in the
// result.
const resolution = 3

// hop is the last link of the best route to a clock. bound is the bound of the whole route, ns.
type hop struct {
	link  *Link // nil: there is no route, or this is its start
	bound float64
}

// route returns the best routes from a clock to all others, by Dijkstra's algorithm.
func (a *Alignment) route(from int) []hop {
	if r := a.routes[from]; r != nil {
		return r
	}
	r := make([]hop, len(a.clocks))
	done := make([]bool, len(a.clocks))
	for i := range r {
		r[i].bound = math.Inf(1)
	}
	r[from].bound = 0
	for {
		at := -1
		for i := range r {
			if !done[i] && !math.IsInf(r[i].bound, 1) && (at < 0 || r[i].bound < r[at].bound) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		done[at] = true
		for _, k := range a.near[at] {
			if to := k.A + k.B - at; r[at].bound+float64(k.Bound)+resolution < r[to].bound {
				r[to] = hop{k, r[at].bound + float64(k.Bound) + resolution}
			}
		}
	}
	a.routes[from] = r
	return r
}

// Comparable reports whether times of two clocks can be compared.
func (a *Alignment) Comparable(x, y int) bool {
	return x == y || a.route(x)[y].link != nil
}

// Convert returns the time that the clock to shows when the clock from shows t, and how wrong the
// result may be at most (ns). The clocks must be comparable.
func (a *Alignment) Convert(to, from int, t uint64) (at uint64, bound int64) {
	r, now, sum := a.route(to), int64(t), 0.0
	for from != to && r[from].link != nil {
		k := r[from].link
		then, half := k.convert(from, now)
		now, sum, from = then, sum+half+resolution, k.A+k.B-from
	}
	return uint64(now), int64(math.Ceil(sum))
}
