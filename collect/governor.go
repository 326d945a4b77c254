package collect

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// budgetWindow is the length of the time over which the budget holds, wherever it begins.
const budgetWindow = 10 * time.Second

// governor decides which kinds of constructs are observed, so that the cost of the probes stays
// within a budget. Each thread has a purse that fills slowly, and its probe hits are paid out of
// it. So in any window a thread pays at most what a full purse holds plus what comes in during the
// window. All times are in ns.
type governor struct {
	fill     float64 // income of a purse, ns per ns
	capacity float64 // of a purse, ns
	start    float64 // level of a new thread's purse, ns
	enough   float64 // level that all purses must reach before a kind is brought back, ns
	interval time.Duration
	kinds    []kindState
	threads  map[uint32]*purse
	last     uint64 // CLOCK_MONOTONIC of the latest look
	random   *rand.Rand
	short    bool // the costs were too high and no kind was left to take away
}

// kindState is what the governor knows of a kind.
type kindState struct {
	away   bool
	since  uint64 // when it was taken away or brought back
	period uint64 // when the latest period of observation began
	fresh  bool   // no period has begun since it came back
}

// purse is what a thread can still pay, in ns.
type purse struct {
	level float64
	seen  uint64    // when the thread last paid
	slots []float64 // what it paid in the latest slots, ns
	slot  uint64    // number of the last slot
}

// Shares of what may be paid in a window. The rest is kept for hits between the look that finds a
// purse nearly empty and the removal of the probes.
const (
	fillShare  = 0.55
	purseShare = 0.25
)

// newGovernor returns a governor that lets no thread pay more than share of its time over any
// window.
func newGovernor(share float64, kinds int) *governor {
	window := float64(budgetWindow)
	g := &governor{
		fill:     fillShare * share,
		capacity: purseShare * share * window,
		kinds:    make([]kindState, kinds),
		threads:  map[uint32]*purse{},
		random:   rand.New(rand.NewPCG(1, 2)),
	}
	g.start = g.capacity / 5
	g.interval = time.Duration(min(max(share*window/25, float64(minLook)), float64(maxLook)))
	g.chooseEnough()
	return g
}

// The bounds of the time between two looks. A smaller budget is looked at more often.
const (
	minLook = 5 * time.Millisecond
	maxLook = 50 * time.Millisecond
)

// switchTime is how long the probes of a kind are still hit after the decision to take them away.
const switchTime = 10 * time.Millisecond

// chooseEnough varies the lengths of the gaps in observation, about a second, so that they do not
// coincide with a rhythm of the program.
func (g *governor) chooseEnough() {
	const gap = float64(time.Second)
	g.enough = g.fill * gap * (0.7 + 0.6*g.random.Float64())
}

// act is a decision of the governor: what is to be done with a kind.
type act struct {
	kind int
	what actKind
}

type actKind uint8

const (
	takeAway  actKind = iota // remove the probes of the kind
	bringBack                // place them again
	newPeriod                // leave them, and begin a new period of observation
)

// periodLength is the least length in ns of a period of observation. The rate of hits in a shorter
// period is not taken for the rate of the time around it.
const periodLength = 100e6

// look returns what is to be done. paid is what each thread has paid in ns since the last look, by
// kind; the last element is for constructs of no kind, whose probes always stay.
func (g *governor) look(now uint64, paid map[uint32][]float64) (acts []act) {
	dt := float64(now - g.last)
	if g.last == 0 || dt <= 0 {
		dt = float64(g.interval)
	}
	g.last = now
	for tid := range paid {
		if g.threads[tid] == nil {
			g.threads[tid] = &purse{level: g.start}
		}
	}
	for tid, p := range g.threads {
		sum := 0.0
		for _, v := range paid[tid] {
			sum += v
		}
		p.level = min(g.capacity, p.level+g.fill*dt-sum)
		p.note(now, sum)
		if sum == 0 && p.level == g.capacity && p.seen+uint64(2*budgetWindow) < now {
			delete(g.threads, tid) // the thread may have ended
		}
	}
	for tid, v := range paid {
		acts = append(acts, g.spare(g.threads[tid], v, dt, now)...)
	}
	if len(acts) == 0 {
		acts = g.afford(now)
	}
	return append(acts, g.periods(paid, dt, now)...)
}

// spare takes away the kinds that cost a thread most, if its purse would be empty at the next look.
func (g *governor) spare(p *purse, paid []float64, dt float64, now uint64) (acts []act) {
	rate := 0.0
	for k, v := range paid {
		if k >= len(g.kinds) || !g.kinds[k].away {
			rate += v / dt
		}
	}
	if rate <= g.fill || p.level-rate*float64(g.interval+switchTime) >= 0 {
		return nil
	}
	var order []int
	for k := range g.kinds {
		if !g.kinds[k].away && paid[k] > 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(paid[b], paid[a]) })
	for _, k := range order {
		if rate <= g.fill {
			break
		}
		rate -= paid[k] / dt
		acts = append(acts, g.act(k, takeAway, now))
	}
	g.short = g.short || len(acts) == 0 && p.level < -g.capacity
	return acts
}

// afford brings back the kind that has been away for the longest, when every thread can pay for
// observing it for a while.
func (g *governor) afford(now uint64) []act {
	longest := -1
	for k := range g.kinds {
		if s := &g.kinds[k]; s.away && (longest < 0 || s.since < g.kinds[longest].since) {
			longest = k
		}
	}
	if longest < 0 || g.lowest() < g.enough {
		return nil
	}
	g.chooseEnough()
	return []act{g.act(longest, bringBack, now)}
}

func (g *governor) lowest() float64 {
	low := math.Inf(1)
	for _, p := range g.threads {
		low = min(low, p.level)
	}
	return low
}

// periods begins a new period of observation for each kind that was brought back a while ago, and
// again and again for each kind that costs much and may soon be taken away.
func (g *governor) periods(paid map[uint32][]float64, dt float64, now uint64) (acts []act) {
	for k := range g.kinds {
		s := &g.kinds[k]
		if s.away || s.period+periodLength > now {
			continue
		}
		dear := s.fresh
		for _, v := range paid {
			dear = dear || v[k]/dt > g.fill/4
		}
		if dear {
			acts = append(acts, g.act(k, newPeriod, now))
		}
	}
	return acts
}

func (g *governor) act(k int, what actKind, now uint64) act {
	s := &g.kinds[k]
	switch what {
	case takeAway:
		s.away, s.since = true, now
	case bringBack:
		s.away, s.since, s.period, s.fresh = false, now, now, true
	case newPeriod:
		s.period, s.fresh = now, false
	}
	return act{k, what}
}

// A window is divided into slots, so that the sum of the costs in the last window is known.
const (
	numSlots   = 20
	slotLength = uint64(budgetWindow) / numSlots
)

// note adds sum, in ns, to the slot of the time now.
func (p *purse) note(now uint64, sum float64) {
	if sum > 0 {
		p.seen = now
	}
	n := now / slotLength
	switch {
	case p.slots == nil || n > p.slot+numSlots:
		p.slots = make([]float64, 1, numSlots+1)
	default:
		for ; p.slot < n; p.slot++ {
			if len(p.slots) > numSlots {
				p.slots = p.slots[:copy(p.slots, p.slots[1:])]
			}
			p.slots = append(p.slots, 0)
		}
	}
	p.slot = n
	p.slots[len(p.slots)-1] += sum
}

// worst is the most that any thread paid in the window that ends now, as a share of the window, or
// of measured if that is shorter.
func (g *governor) worst(measured time.Duration) (share float64) {
	for _, p := range g.threads {
		sum := 0.0
		for _, v := range p.slots {
			sum += v
		}
		share = max(share, sum/float64(min(budgetWindow, measured)))
	}
	return share
}
