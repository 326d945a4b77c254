package clocks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// machine is a machine whose clock is known.
type machine struct {
	offset, rate, wander, period, phase float64
	jumpAt, jump                        float64
}

// clock returns what the machine's clock says at a true time (ns).
func (m *machine) clock(t float64) uint64 {
	c := m.offset + t*(1+m.rate) + m.wander*m.period/(2*math.Pi)*(math.Sin(2*math.Pi*t/m.period+m.phase)-math.Sin(m.phase))
	if m.jumpAt > 0 && t > m.jumpAt {
		c += m.jump
	}
	return uint64(math.Round(c))
}

const base = 1e15

func randomMachine(r *rand.Rand) machine {
	return machine{offset: base + float64(r.Int64N(20e6)-10e6), rate: (2*r.Float64() - 1) * 80e-6,
		wander: r.Float64() * freely, period: math.Pow(10, 6+5*r.Float64()), phase: 7 * r.Float64()}
}

func latency(r *rand.Rand) float64 { return 2e3 + r.ExpFloat64()*math.Pow(10, 3+3*r.Float64()) }

// TestTrueTimes: differences of times are right within their bounds. This holds for any offsets,
// rates and wander of the clocks, and for any latency of messages. Where messages go both ways all
// the time, the bound is near the least latency.
func TestTrueTimes(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 2 + r.IntN(4)
		var ms []machine
		var cs []Clock
		for range n {
			ms, cs = append(ms, randomMachine(r)), append(cs, Clock{Wander: freely})
		}
		if r.IntN(3) == 0 { // some are synchronised
			for i := range ms {
				if r.IntN(2) == 0 {
					ms[i].rate = 0
					ms[i].offset = base + float64(r.Int64N(2e6)-1e6)
					cs[i].Known = []Known{{int64(ms[i].clock(0)), 1e6 + 1}}
				}
			}
		}
		length := math.Pow(10, 8+4*r.Float64()) // 0.1 s to 1000 s
		o := NewOrders(n)
		ring := r.IntN(2) == 0
		for range 20 + r.IntN(20000) {
			from, to := r.IntN(n), r.IntN(n)
			if ring {
				to = (from + n + 2*r.IntN(2) - 1) % n
			}
			at := r.Float64() * length
			o.Add(from, to, ms[from].clock(at), ms[to].clock(at+latency(r)))
		}
		a := Align(cs, o)
		for range 500 {
			x, y := r.IntN(n), r.IntN(n)
			if !a.Comparable(x, y) {
				continue
			}
			at := r.Float64() * length
			want := ms[x].clock(at)
			got, bound := a.Convert(x, y, ms[y].clock(at))
			if d := int64(got - want); d > bound || d < -bound {
				t.Fatalf("seed %d: %d to %d: %d, not %d: off by %d, bound %d\n%+v", seed, x, y, got, want, d, bound, a.Links)
			}
			if x == y && bound != 0 {
				t.Fatalf("seed %d: one clock has a bound: %d", seed, bound)
			}
		}
		for i := range a.Links {
			if k := &a.Links[i]; !k.Messages && k.Forth > 0 && k.Back > 0 || k.Unsteady {
				t.Fatalf("seed %d: %+v", seed, k)
			}
		}
	}
}

// exchange lets two machines exchange messages: n each way, with the latencies given.
func exchange(o *Orders, a, b *machine, n int, length float64, latency func() float64) {
	for i := range n {
		at := length * float64(i) / float64(n)
		o.Add(0, 1, a.clock(at), b.clock(at+latency()))
		at += length / float64(2*n)
		o.Add(1, 0, b.clock(at), a.clock(at+latency()))
	}
}

// TestBounds: the bound is half the shortest round trip where messages are dense, and the drift is
// found.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	a, b := machine{offset: base, period: 1}, machine{offset: base + 7e9, rate: 40e-6, period: 1}
	o := NewOrders(2)
	exchange(o, &a, &b, 20000, 10e9, func() float64 { return 10e3 + r.ExpFloat64()*50e3 })
	k := Align([]Clock{{Wander: freely}, {Wander: freely}}, o).Links[0]
	if k.Bound < 10e3 || k.Bound > 14e3 {
		t.Errorf("bound %d ns; latencies are 10 us and more", k.Bound)
	}
	if k.Most-k.Least > 100e-6 || k.Least > -40e-6 || k.Most < -40e-6 || k.Unsteady || k.Conflict != 0 {
		t.Errorf("%+v", k)
	}
	if want := -7e9 - 40e-6*5e9; math.Abs(float64(k.Offset)-want) > 14e3 {
		t.Errorf("offset %d, not %.0f", k.Offset, want)
	}
}

// TestLadder: from which messages and claims each difference follows.
func TestLadder(t *testing.T) {
	a, b := machine{offset: base, period: 1}, machine{offset: base + 3e6, period: 1}
	short := func() float64 { return 20e3 }
	told := func(err int64) []Clock {
		return []Clock{{Known: []Known{{base, err}}}, {Known: []Known{{base, err}}}}
	}
	for name, c := range map[string]struct {
		orders    func(*Orders)
		clocks    []Clock
		want      Link // Messages, Synchronised, Unsteady
		least     int64
		most      int64 // of Bound
		conflicts bool
	}{
		"messages":                 {func(o *Orders) { exchange(o, &a, &b, 100, 1e9, short) }, make([]Clock, 2), Link{Messages: true}, 20e3, 22e3, false},
		"one way":                  {func(o *Orders) { o.Add(0, 1, a.clock(5), b.clock(9)) }, make([]Clock, 2), Link{}, 0, 0, false},
		"one way, synchronised":    {func(o *Orders) { o.Add(0, 1, a.clock(5), b.clock(9)) }, told(4e6), Link{Synchronised: true}, 2e6, 8e6 + 10, false},
		"synchronised":             {func(*Orders) {}, told(4e6), Link{Synchronised: true}, 8e6, 8e6 + 10, false},
		"both":                     {func(o *Orders) { exchange(o, &a, &b, 100, 1e9, short) }, told(4e6), Link{Messages: true, Synchronised: true}, 19e3, 22e3, false},
		"better than messages":     {func(o *Orders) { exchange(o, &a, &b, 100, 1e9, func() float64 { return 50e6 }) }, told(4e6), Link{Messages: true, Synchronised: true}, 7e6, 9e6, false},
		"a kernel's word is false": {func(o *Orders) { exchange(o, &a, &b, 100, 1e9, short) }, told(1e6), Link{Messages: true}, 20e3, 22e3, true},
		"rate changes": {func(o *Orders) {
			w := b
			w.wander, w.period = 500e-6, 2e9
			exchange(o, &a, &w, 1000, 4e9, short)
		}, make([]Clock, 2), Link{Messages: true, Unsteady: true}, 20e3, 30e3, false},
		"jump": {func(o *Orders) {
			w := b
			w.jumpAt, w.jump = 5e8, 1e6
			exchange(o, &a, &w, 100, 1e9, short)
		}, told(4e6), Link{}, 0, 0, true},
	} {
		o := NewOrders(2)
		c.orders(o)
		al := Align(c.clocks, o)
		k := al.Links[0]
		if k.Messages != c.want.Messages || k.Synchronised != c.want.Synchronised || k.Unsteady != c.want.Unsteady && k.usable() || (k.Conflict > 0) != c.conflicts {
			t.Errorf("%s: %+v", name, k)
		}
		if k.Bound < c.least || k.Bound > c.most {
			t.Errorf("%s: bound %d, not in %d to %d", name, k.Bound, c.least, c.most)
		}
		if al.Comparable(0, 1) != k.usable() {
			t.Errorf("%s: comparable: %v", name, al.Comparable(0, 1))
		}
		if name == "jump" && (k.Conflict < 900e3 || k.Conflict > 1e6) {
			t.Errorf("the clock jumped by 1 ms, with 20 us each way: contradicted by %d ns", k.Conflict)
		}
	}
}

// TestChain: machines that exchange nothing are compared by way of others.
func TestChain(t *testing.T) {
	ms := []machine{{offset: base, period: 1}, {offset: base + 1e9, period: 1}, {offset: base - 1e9, period: 1}, {offset: base, period: 1}}
	o := NewOrders(4)
	for i := range 100 {
		at := float64(i) * 1e6
		for _, pair := range [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}} {
			o.Add(pair[0], pair[1], ms[pair[0]].clock(at), ms[pair[1]].clock(at+5e3))
		}
	}
	a := Align(make([]Clock, 4), o)
	got, bound := a.Convert(0, 2, ms[2].clock(30e6))
	if d := int64(got - ms[0].clock(30e6)); d > bound || d < -bound || bound < 10e3 || bound > 11e3 {
		t.Errorf("off by %d, bound %d", d, bound)
	}
	if a.Comparable(0, 3) {
		t.Error("nothing is known of clock 3")
	}
}

// TestLines: the slopes are those that all pairs of points allow.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		var low, high []point
		for range 1 + r.IntN(12) {
			low = append(low, point{float64(r.IntN(40)), -r.Float64() * 1e-2})
			high = append(high, point{float64(r.IntN(40)), r.Float64() * 1e-2})
		}
		low, high = undominated(low), undominated(negative(high))
		high = negative(high)
		want := slopes{-steepest, steepest}
		for _, p := range low {
			for _, q := range high {
				switch {
				case p.x < q.x:
					want.most = min(want.most, slope(p, q))
				case p.x > q.x:
					want.least = max(want.least, slope(p, q))
				}
			}
		}
		if got := lines(low, high); math.Abs(got.least-want.least) > 1e-12 || math.Abs(got.most-want.most) > 1e-12 {
			t.Fatalf("%v, not %v\n%v\n%v", got, want, low, high)
		}
	}
}

// TestKept: memory is bounded, and the bounds that narrow the interval most are kept.
func TestKept(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	b := newBounds(64)
	var all []point
	for range 200000 {
		p := point{r.Float64() * 1e11, 0}
		p.y = 50e-6*p.x - r.ExpFloat64()*1e5
		b.add(p)
		all = append(all, p)
	}
	if list := b.list(); len(list) > 64*perStretch || len(b.in) > 64 || b.n != 200000 {
		t.Errorf("%d points in %d stretches of %d", len(list), len(b.in), b.n)
	}
	s := slopes{40e-6, 60e-6}
	kept, whole := over(b.list(), s), over(undominated(all), s)
	for x := 0.0; x < 1e11; x += 1e8 {
		if k, w := kept.at(x), whole.at(x); k > w+1e-6 || k < w-2e4 {
			t.Fatalf("at %g: %g, with all points %g", x, k, w)
		}
	}
}

// TestOf: the clock of a machine follows from its kernel's statements.
func TestOf(t *testing.T) {
	at := func(mono, shift int64, synced bool, rate float64) Reading {
		return Reading{Monotonic: mono, Real: mono + shift, Within: 50, Synchronised: synced, MaxError: 1000, Rate: rate}
	}
	pair := func(a, b Reading) []*Record { return []*Record{{Boot: "b", Begin: a, End: b}} }
	for name, c := range map[string]struct {
		records []*Record
		known   int
		stepped bool
		wander  float64
	}{
		"free":         {pair(at(10, 500, false, 3), at(90, 500, false, 3)), 0, false, freely},
		"synchronised": {pair(at(10, 500, true, 3), at(90, 550, true, 3)), 2, false, freely + steered},
		"lost":         {pair(at(10, 500, true, 3), at(90, 550, false, 3)), 1, false, freely + steered},
		"corrected":    {pair(at(10, 500, false, 3), at(90, 500, false, 303)), 0, false, freely + 600e-6},
		"set":          {pair(at(10, 500, true, 3), at(90, 5000, true, 3)), 0, true, freely + steered},
		"no end":       {pair(at(10, 500, true, 3), Reading{}), 1, false, freely + steered},
		"none":         {nil, 0, false, freely + steered},
	} {
		got := Of(c.records)
		if len(got.Known) != c.known || got.Stepped != c.stepped || math.Abs(got.Wander-c.wander) > 1e-9 || c.records != nil && got.Shifted(10) != 510 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// FuzzAlign: whatever the times are, the alignment does not fail. The interval is never empty
// unless the alignment says so.
func FuzzAlign(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, unit uint64) {
		o := NewOrders(3)
		for len(b) >= 4 {
			o.Add(int(b[0]%3), int(b[1]%3), uint64(b[2])*(unit>>16), uint64(b[3])*(unit>>16))
			b = b[4:]
		}
		a := Align([]Clock{{Known: []Known{{int64(unit), 9}}}, {Wander: 1}, {Known: []Known{{0, int64(unit >> 1)}}}}, o)
		for x := range 3 {
			for y := range 3 {
				if !a.Comparable(x, y) {
					continue
				}
				if _, bound := a.Convert(x, y, unit/2); bound < 0 {
					t.Fatal(fmt.Sprint(bound, a.Links))
				}
			}
		}
	})
}
