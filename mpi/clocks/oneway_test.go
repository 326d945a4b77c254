package clocks

import (
	"math/rand/v2"
	"testing"
)

// TestOneWay: how well clocks are known if messages go one way only, for 60 seconds, with a latency
// of at least 20 us. docs/waits.md has these bounds.
func TestOneWay(t *testing.T) {
	const length, least = 60e9, 20e3
	const err = 5e6 // ns, that each kernel claims
	free := []Clock{{Wander: freely}, {Wander: freely}}
	synced := func(a, b *machine) []Clock {
		out := []Clock{{Wander: freely + steered}, {Wander: freely + steered}}
		for i, m := range []*machine{a, b} {
			for _, at := range []float64{0, length} {
				out[i].Known = append(out[i].Known, Known{int64(m.clock(at)), err})
			}
		}
		return out
	}
	// barrier notes that one machine leaves a barrier after the other one has come to it.
	barrier := func(o *Orders, a, b *machine, at float64) {
		o.Add(0, 1, a.clock(at), b.clock(at+least))
		o.Add(1, 0, b.clock(at), a.clock(at+least))
	}
	for name, c := range map[string]struct {
		synced   bool
		ahead    float64   // of the second machine, ns
		barriers []float64 // times
		back     bool      // messages go back, too
		bound    float64   // ns; 0: not comparable
	}{
		"free":                       {bound: 0},
		"synchronised":               {synced: true, bound: 9.6e6},
		"synchronised, and 2 ms off": {synced: true, ahead: -2e6, bound: 8.3e6},
		"a barrier":                  {barriers: []float64{0}, bound: 18e6},
		"two barriers":               {barriers: []float64{0, length}, bound: 330e3},
		"a barrier each second":      {barriers: seconds(60), bound: 25e3},
		"both ways":                  {back: true, bound: 21e3},
	} {
		a, b := machine{offset: base, period: 1}, machine{offset: base + c.ahead, period: 1}
		if !c.synced {
			b.rate = 40e-6
		}
		r := rand.New(rand.NewPCG(9, 9))
		o := NewOrders(2)
		for i := range 60000 {
			at := length * float64(i) / 60000
			o.Add(0, 1, a.clock(at), b.clock(at+least+r.ExpFloat64()*50e3))
			if c.back {
				o.Add(1, 0, b.clock(at), a.clock(at+least+r.ExpFloat64()*50e3))
			}
		}
		for _, at := range c.barriers {
			barrier(o, &a, &b, at)
		}
		clocks := free
		if c.synced {
			clocks = synced(&a, &b)
		}
		al := Align(clocks, o)
		t.Logf("%s: within %d ns", name, al.Links[0].Bound)
		if got := float64(al.Links[0].Bound); got < 0.9*c.bound || got > 1.1*c.bound || al.Comparable(0, 1) != (c.bound > 0) {
			t.Errorf("%s: within %.0f ns, not %.0f", name, got, c.bound)
		}
		for i := range 600 {
			if c.bound == 0 {
				break
			}
			at := length * float64(i) / 600
			got, bound := al.Convert(0, 1, b.clock(at))
			if d := int64(got - a.clock(at)); d > bound || d < -bound {
				t.Fatalf("%s: off by %d ns, bound %d", name, d, bound)
			}
		}
	}
}

// seconds are the first seconds, in ns.
func seconds(n int) (out []float64) {
	for i := range n {
		out = append(out, float64(i)*1e9)
	}
	return out
}
