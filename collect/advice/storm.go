package advice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ompp-attach/event"
)

// A storm: constructs are executed so often that their probes take more of the threads' time than
// the program itself. The user is told once, from the rates of the first second.

const (
	stormLook  = 1e9 // ns of a process's measurement that are looked at
	stormShare = 0.5 // of its threads' time
	stormHits  = 1e5 // fewer hits are no storm
)

// Rates are the hits of a process in its first second, and their cost.
type Rates struct {
	Costs   *event.HitCosts // what a hit costs
	from    uint64
	threads map[uint32]*span
	last    *span // of the last event's thread
	tid     uint32
	of      [256]rate // by construct
	hits    uint64

	// Function takes the Fn of a user region's events. It returns the name of the function that the
	// user has asked for, and the flag that leaves the function out. If Function is nil, no names
	// are known. An empty name stands for no such function.
	Function  func(fn uint64) (name, without string)
	functions map[uint64]*rate // by the Fn of user regions' events
}

type span struct{ first, last uint64 }

// rate is a number of hits, and the time that they took, in ns.
type rate struct {
	hits uint64
	ns   int64
}

// selectorRate is the rate of constructs that can be left out together.
type selectorRate struct {
	selector string // as --disable names it; empty: it cannot be left out
	name     string
	rate
}

// NewRates returns rates that have counted no event yet. c is what a hit costs.
func NewRates(c *event.HitCosts) *Rates { return &Rates{Costs: c, threads: map[uint32]*span{}} }

// Add counts an event. It returns true when the first second is over.
func (r *Rates) Add(ev *event.Event) bool {
	if r.from == 0 {
		r.from = ev.Time
	}
	if ev.Time > r.from+stormLook {
		return true
	}
	if ev.Probe == event.NoProbe {
		return false
	}
	if r.last == nil || r.tid != ev.TID {
		if r.last = r.threads[ev.TID]; r.last == nil {
			r.last = &span{first: ev.Time}
			r.threads[ev.TID] = r.last
		}
		r.tid = ev.TID
	}
	r.last.last = ev.Time
	x := &r.of[uint8(ev.Construct)]
	if f := ev.Fold; f != nil {
		r.last.last = max(r.last.last, f.Last)
		x.hits += f.Hits
		x.ns += int64(f.Hits) * r.Costs.Kinds[event.ProbeFolded].Sum()
		r.hits += f.Hits
		return false
	}
	left, ns := ev.LeftOut.Cost(r.Costs)
	x.hits += 1 + left
	x.ns += r.Costs.Kinds[ev.Probe].Sum() + ns
	if ev.Construct == event.UserRegion && ev.Fn != 0 {
		r.addFunction(ev)
	}
	if ev.MPI != nil {
		x.hits++
		x.ns += r.Costs.Kinds[event.ProbeReturn].Sum()
	}
	r.hits += 1 + left
	return false
}

// mostFunctions is the greatest number of functions with counted hits.
const mostFunctions = 10_000

func (r *Rates) addFunction(ev *event.Event) {
	f := r.functions[ev.Fn]
	if f == nil {
		if len(r.functions) >= mostFunctions {
			return
		}
		if r.functions == nil {
			r.functions = map[uint64]*rate{}
		}
		f = &rate{}
		r.functions[ev.Fn] = f
	}
	left, ns := ev.LeftOut.Cost(r.Costs)
	f.hits += 1 + left
	f.ns += r.Costs.Kinds[ev.Probe].Sum() + ns
}

// dearest names the user's functions with the costliest probes, and says how to leave these
// functions out. time is the threads' time (ns). Functions are named if their probes take at least
// a twentieth of that time.
func (r *Rates) dearest(time int64) string {
	const most, share = 3, 20
	if r.Function == nil {
		return ""
	}
	all := slices.DeleteFunc(slices.Collect(maps.Keys(r.functions)), func(fn uint64) bool {
		name, _ := r.Function(fn)
		return name == "" || r.functions[fn].ns < time/share
	})
	slices.SortFunc(all, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(r.functions[b].ns, r.functions[a].ns), cmp.Compare(a, b))
	})
	var words []string
	for _, fn := range all[:min(len(all), most)] {
		name, without := r.Function(fn)
		f := r.functions[fn]
		words = append(words, fmt.Sprintf("%s takes %.0f%% by itself (%d hits): %s", name, 100*float64(f.ns)/float64(time), f.hits, without))
	}
	return strings.Join(words, "; ")
}

// selectorOf returns the selector that leaves a construct out, "" if there is none, and a name
// for the user.
func selectorOf(c event.Construct) (selector, name string) {
	if selector := c.Traits().Selector; selector != "" {
		return selector, selector
	}
	return "", "parallel regions"
}

func (r *Rates) bySelector() (all []*selectorRate) {
	of := map[string]*selectorRate{}
	for c, x := range r.of {
		if x.hits == 0 {
			continue
		}
		selector, name := selectorOf(event.Construct(c))
		if of[name] == nil {
			of[name] = &selectorRate{selector: selector, name: name}
			all = append(all, of[name])
		}
		of[name].hits += x.hits
		of[name].ns += x.ns
	}
	return all
}

// lower lowers all costs so that their sum is no more than most (ns). It returns how many times
// their costs the hits can have taken at most; 1: they can have taken all.
func (r *Rates) lower(most int64) float64 {
	taken := int64(0)
	for i := range r.of {
		taken += r.of[i].ns
	}
	if taken <= most {
		return 1
	}
	times := float64(most) / float64(taken)
	for i := range r.of {
		r.of[i].ns = int64(times * float64(r.of[i].ns))
	}
	for _, f := range r.functions {
		f.ns = int64(times * float64(f.ns))
	}
	return times
}

// Sentence says what share of the threads' time the probes take, and how much --disable would save.
// It returns "" if there is no storm. most is the time that hits can have taken of the process's
// processor time (ns). Hits may have been dearer for the calibration than they are for the process,
// because of other load.
func (r *Rates) Sentence(most int64) string {
	time, taken := int64(0), int64(0)
	for _, s := range r.threads {
		time += int64(s.last - s.first)
	}
	times := r.lower(min(most, time))
	all := r.bySelector()
	for _, x := range all {
		taken += x.ns
	}
	if r.hits < stormHits || float64(taken) < stormShare*float64(time) {
		return ""
	}
	slices.SortFunc(all, func(a, b *selectorRate) int { return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.name, b.name)) })
	share := func(ns int64) float64 { return 100 * float64(ns) / float64(time) }
	mark, upTo := "", ""
	if times < 1 {
		mark, upTo = "at most about ", "up to "
	}
	var what, saves []string
	for _, x := range all {
		if share(x.ns) < 1 {
			continue
		}
		what = append(what, fmt.Sprintf("%s %.0f%% (%d hits)", x.name, share(x.ns), x.hits))
		if x.selector != "" {
			saves = append(saves, fmt.Sprintf("--disable %s saves %s%.0f%%", x.selector, upTo, share(x.ns)))
		}
	}
	s := fmt.Sprintf("probes take %s%.0f%% of the threads' time in the first second: %s", mark, share(taken), strings.Join(what, ", "))
	if times < 1 {
		s += fmt.Sprintf("; by the calibration it would be more, but the process had time for only %.2f of that", times)
	}
	if len(saves) > 0 {
		s += "; " + strings.Join(saves, ", ")
	}
	if f := r.dearest(time); f != "" {
		s += "; " + f
	}
	return s + "; " + r.budgetText(time) + "; reports take the cost out of the times"
}

// budgetText says what a budget would do. time is the threads' time (ns). A budget takes no probes
// away of what is always observed: parallel regions, teams, offloading, MPI calls.
func (r *Rates) budgetText(time int64) string {
	const budget = 0.05
	always := int64(0)
	for c, x := range r.of {
		if event.GroupOf(event.Construct(c)) == event.NoGroup {
			always += x.ns
		}
	}
	// A budget is each thread's, and one thread may have made all of these hits.
	if float64(always)*float64(len(r.threads)) >= budget*float64(time) {
		return fmt.Sprintf("--max-overhead does not bound the cost of MPI calls and parallel regions, %.0f%% of all threads' time here", 100*float64(always)/float64(time))
	}
	return "--max-overhead 5% keeps the cost below 5% by observing in periods"
}
