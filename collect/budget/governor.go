package budget

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"ompp-attach/event"
)

// Horizon is the length of the time over which a budget holds, wherever it begins.
const Horizon = 10 * time.Second

// Governor decides which groups of constructs are probed, so that the cost of the probes stays
// within a budget. Each thread has a purse that fills slowly. The thread's hits are paid out of the
// purse. So in any horizon a thread pays at most what a full purse holds plus the income of the
// horizon. All times are in ns.
type Governor struct {
	Interval time.Duration // between two decisions
	Short    bool          // a thread paid more than the budget, and no group was left to remove

	share    float64 // the budget
	fill     float64 // income of a purse, ns per ns
	capacity float64 // of a purse, ns
	start    float64 // level of a new thread's purse, ns
	enough   float64 // level that all purses must reach before a group is placed again, ns
	groups   [event.NumGroups]groupState
	threads  map[uint32]*purse
	last     uint64 // CLOCK_MONOTONIC of the latest decision
	random   *rand.Rand
}

// groupState is the state of a group of constructs.
type groupState struct {
	removed bool   // its probes are removed
	since   uint64 // when its probes were last removed or placed
	period  uint64 // when the latest period of observation began
	fresh   bool   // no period has begun since its probes were last placed
}

// purse is what a thread can still pay, in ns.
type purse struct {
	level float64
	seen  uint64    // when the thread last paid
	slots []float64 // what it paid in the latest slots, ns
	slot  uint64    // number of the last slot
}

// Shares of what may be paid within Horizon. The rest is for hits between the decision that finds a
// purse nearly empty and the removal of the probes.
const (
	fillShare  = 0.55
	purseShare = 0.25
)

// NewGovernor returns a governor that lets no thread pay more than share of its time over any
// Horizon. A share of 0.05 is 5 %.
func NewGovernor(share float64) *Governor {
	horizon := float64(Horizon)
	g := &Governor{
		share:    share,
		fill:     fillShare * share,
		capacity: purseShare * share * horizon,
		threads:  map[uint32]*purse{},
		random:   rand.New(rand.NewPCG(1, 2)),
	}
	g.start = g.capacity / 5
	g.Interval = time.Duration(min(max(share*horizon/25, float64(minInterval)), float64(maxInterval)))
	g.chooseEnough()
	return g
}

// The bounds of the time between two decisions. A smaller budget needs more decisions.
const (
	minInterval = 5 * time.Millisecond
	maxInterval = 50 * time.Millisecond
)

// removalTime is how long the probes of a group are still hit after the decision to remove them.
const removalTime = 10 * time.Millisecond

// chooseEnough varies the lengths of the gaps in observation, about a second, so that they do not
// coincide with a rhythm of the program.
func (g *Governor) chooseEnough() {
	const gap = float64(time.Second)
	g.enough = g.fill * gap * (0.7 + 0.6*g.random.Float64())
}

// Decision says what is to be done with a group of constructs.
type Decision struct {
	Group event.Group
	Do    Action
}

// Action is what a Decision asks for.
type Action uint8

// The actions.
const (
	Remove    Action = iota // remove the probes of the group
	Place                   // place them again
	NewPeriod               // leave them, and begin a new period of observation
)

// periodLength is the least length in ns of a period of observation. The rate of hits in a shorter
// period is not taken for the rate of the time around the period.
const periodLength = 100e6

// Decide returns what is to be done at the time now. paid is what each thread has paid since the
// last call.
func (g *Governor) Decide(now uint64, paid map[uint32]*Paid) (all []Decision) {
	dt := float64(now - g.last)
	if g.last == 0 || dt <= 0 {
		dt = float64(g.Interval)
	}
	g.last = now
	for tid := range paid {
		if g.threads[tid] == nil {
			g.threads[tid] = &purse{level: g.start}
		}
	}
	for tid, p := range g.threads {
		sum := paid[tid].sum()
		p.level = min(g.capacity, p.level+g.fill*dt-sum)
		p.note(now, sum)
		if sum == 0 && p.level == g.capacity && p.seen+uint64(2*Horizon) < now {
			delete(g.threads, tid) // the thread may have ended
		}
	}
	for tid, costs := range paid {
		all = append(all, g.removeDearest(g.threads[tid], costs, dt, now)...)
	}
	if len(all) == 0 {
		all = g.placeAgain(now)
	}
	return append(all, g.newPeriods(paid, dt, now)...)
}

// removeDearest removes the groups that cost a thread most, if its purse would be empty at the next
// decision.
func (g *Governor) removeDearest(p *purse, paid *Paid, dt float64, now uint64) (all []Decision) {
	rate := 0.0
	for group, ns := range paid {
		if !g.groups[group].removed {
			rate += ns / dt
		}
	}
	if rate <= g.fill || p.level-rate*float64(g.Interval+removalTime) >= 0 {
		return nil
	}
	var order []event.Group
	for group := event.NoGroup + 1; group < event.NumGroups; group++ {
		if !g.groups[group].removed && paid[group] > 0 {
			order = append(order, group)
		}
	}
	slices.SortFunc(order, func(a, b event.Group) int { return cmp.Compare(paid[b], paid[a]) })
	for _, group := range order {
		if rate <= g.fill {
			break
		}
		rate -= paid[group] / dt
		all = append(all, g.decide(group, Remove, now))
	}
	// A purse fills more slowly than a thread may pay over any horizon. So an empty one alone does
	// not tell that a thread paid more.
	g.Short = g.Short || len(all) == 0 && p.level < -g.capacity && p.paid() > g.share*float64(Horizon)
	return all
}

// placeAgain places the group that has been removed for the longest, when every thread can pay for
// observing the group for a while.
func (g *Governor) placeAgain(now uint64) []Decision {
	longest := event.NoGroup
	for group := event.NoGroup + 1; group < event.NumGroups; group++ {
		if s := &g.groups[group]; s.removed && (longest == event.NoGroup || s.since < g.groups[longest].since) {
			longest = group
		}
	}
	if longest == event.NoGroup || g.lowest() < g.enough {
		return nil
	}
	g.chooseEnough()
	return []Decision{g.decide(longest, Place, now)}
}

// lowest is the level of the emptiest purse.
func (g *Governor) lowest() float64 {
	low := math.Inf(1)
	for _, p := range g.threads {
		low = min(low, p.level)
	}
	return low
}

// newPeriods begins a new period of observation for each group that was placed again a while ago.
// It does so again and again for each group that costs much and may soon be removed.
func (g *Governor) newPeriods(paid map[uint32]*Paid, dt float64, now uint64) (all []Decision) {
	for group := event.NoGroup + 1; group < event.NumGroups; group++ {
		s := &g.groups[group]
		if s.removed || s.period+periodLength > now {
			continue
		}
		dear := s.fresh
		for _, costs := range paid {
			dear = dear || costs[group]/dt > g.fill/4
		}
		if dear {
			all = append(all, g.decide(group, NewPeriod, now))
		}
	}
	return all
}

// decide notes a decision in the group's state, and returns the decision.
func (g *Governor) decide(group event.Group, do Action, now uint64) Decision {
	s := &g.groups[group]
	switch do {
	case Remove:
		s.removed, s.since = true, now
	case Place:
		s.removed, s.since, s.period, s.fresh = false, now, now, true
	case NewPeriod:
		s.period, s.fresh = now, false
	}
	return Decision{group, do}
}

// A horizon is divided into slots, so that the sum of the costs in the last horizon is known.
const (
	numSlots   = 20
	slotLength = uint64(Horizon) / numSlots
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

// Worst is the most that any thread paid in the horizon that ends now. It is a share of the
// horizon, or of measured if measured is shorter.
func (g *Governor) Worst(measured time.Duration) (share float64) {
	for _, p := range g.threads {
		share = max(share, p.paid()/float64(min(Horizon, measured)))
	}
	return share
}

// paid returns what a thread paid within the latest horizon, ns.
func (p *purse) paid() (sum float64) {
	for _, v := range p.slots {
		sum += v
	}
	return sum
}
