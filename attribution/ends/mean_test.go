package ends

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The sum of what is derived follows what is known, also where the next events come early.
func TestMeanKeepsSums(t *testing.T) {
	y := &Mean{}
	rnd := rand.New(rand.NewPCG(1, 1))
	takes := func() (d, gap int64) { // half of the next events come at once
		if gap = 5000 + rnd.Int64N(1000); rnd.IntN(2) == 0 {
			gap = 400 + rnd.Int64N(50)
		}
		return min(gap, 900+rnd.Int64N(200)), gap
	}
	want, got := int64(0), int64(0)
	for i := range 20_000 {
		d, gap := takes()
		if i%16 == 0 {
			y.Learn(d, Gap{Time: gap}, AtFirst)
			continue
		}
		want += d
		derived := y.Derive(Gap{Time: gap}, nil, 0)
		if derived < 0 || derived > gap {
			t.Fatalf("an execution of at most %d ns took %d", gap, derived)
		}
		got += derived
	}
	if math.Abs(float64(got-want)) > 0.01*float64(want) {
		t.Errorf("the executions took %d ns, derived are %d", want, got)
	}
}

// Executions that took long stand for those with a gap as long, and not for others.
func TestMeanOfLongGaps(t *testing.T) {
	y := &Mean{}
	for range 1000 {
		y.Learn(1000, Gap{Time: 3000}, AtFirst)
	}
	for range 10 {
		y.Learn(3_000_000, Gap{Time: 3_002_000}, AtFirst)
	}
	if d := y.Derive(Gap{Time: 3000}, nil, 0); d < 990 || d > 1010 {
		t.Errorf("of 3 us: %d ns, want 1000", d)
	}
	if d := y.Derive(Gap{Time: 3_500_000}, nil, 0); d < 2_400_000 {
		t.Errorf("of 3.5 ms: %d ns, want most of it", d)
	}
	// The same with what is known of other regions.
	z := &Mean{}
	z.Learn(1000, Gap{Time: 3000}, AtFirst)
	if d := z.Derive(Gap{Time: 3_500_000}, y, 0); d < 2_400_000 {
		t.Errorf("of 3.5 ms, as in other regions: %d ns, want most of it", d)
	}
}

// The first executions of a place stand for later ones only as long as there are no others.
func TestMeanOfChance(t *testing.T) {
	y := &Mean{}
	for range 64 {
		y.Learn(9000, Gap{Time: 50_000}, NotByChance)
	}
	if d := y.Derive(Gap{Time: 50_000}, nil, 0); d != 9000 {
		t.Errorf("with the first executions only: %d", d)
	}
	for range 100 {
		y.Learn(1000, Gap{Time: 50_000}, AtFirst)
	}
	y.Learn(9000, Gap{Time: 50_000}, NotByChance)
	sum := int64(0)
	for range 100 {
		sum += y.Derive(Gap{Time: 50_000}, nil, 0)
	}
	if sum < 90_000 || sum > 105_000 {
		t.Errorf("100 executions of 1000 ns take %d ns", sum)
	}
	if !y.Fits(1500, nil) || y.Fits(500, nil) {
		t.Error("an execution of 1000 ns is over after 500 ns, or not after 1500")
	}
}

// chance chooses which ends are reported, as the kernel side does (bpf/sparse.h).
type chance struct {
	rnd          *rand.Rand
	seen, chosen int
}

func (c *chance) choose() (w Weight, reported bool) {
	c.seen++
	switch {
	case c.seen <= 64:
		return NotByChance, true
	case c.chosen >= 64:
		return Seldom, c.rnd.IntN(32) == 0
	case c.rnd.IntN(16) != 0:
		return AtFirst, false
	}
	c.chosen++
	return AtFirst, true
}

// Intervals hold the truth in nine of ten cases. The times are alike, change, or few of them are
// long and carry the sum, or few executions are reported.
func TestMeanIntervals(t *testing.T) {
	const trials = 200
	for _, c := range []struct {
		name       string
		executions int
		long       float64 // the share of the executions that lose their core
		inside     float64 // the share of these that lose it in the call, and not behind it
		idle       bool    // the kernel tells of lost cores
		grows      int64   // ns that the last execution takes longer than the first
	}{
		{"alike", 20_000, 0, 0, false, 0},
		{"few are long", 20_000, 0.003, 0.5, false, 0},
		{"few are long, and known", 20_000, 0.003, 0.5, true, 0},
		{"few are long, all in the call", 20_000, 0.003, 1, true, 0},
		{"many are long", 20_000, 0.05, 0.3, false, 0},
		{"few executions", 400, 0.03, 0.5, true, 0},
		{"longer and longer", 5000, 0, 0, false, 900},
	} {
		t.Run(c.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 7))
			in, widths := 0, 0.0
			for range trials {
				y, truth, by := &Mean{}, int64(0), chance{rnd: rnd}
				for i := range c.executions {
					d, rest, idle := 700+rnd.Int64N(400), 3000+rnd.Int64N(2000), false
					d += c.grows * int64(i) / int64(c.executions)
					if rnd.Float64() < c.long {
						lost := int64(rnd.ExpFloat64() * 3e6)
						if idle = c.idle; rnd.Float64() < c.inside {
							d += lost
						} else {
							rest += lost
						}
					}
					g := Gap{d + rest, idle}
					if w, reported := by.choose(); reported {
						y.Learn(d, g, w)
						continue
					}
					truth += d
					y.Derive(g, nil, 0)
				}
				e := y.derived(nil)
				least, most := e.Interval()
				if least <= truth && truth <= most {
					in++
				}
				widths += float64(most-least) / 2 / float64(truth) / trials
			}
			t.Logf("%.1f %% of the intervals hold the truth, their half is %.1f %% of it", 100*float64(in)/trials, 100*widths)
			if in < trials*9/10 {
				t.Errorf("%d of %d intervals hold the truth, want nine of ten", in, trials)
			}
			if c.long == 0 && c.grows == 0 && widths > 0.02 {
				t.Errorf("the intervals are %.1f %% wide, though the times are alike", 100*widths)
			}
		})
	}
}
