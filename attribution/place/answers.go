package place

import "ompp-attach/event"

// Answers are those of a Resolver: each question is asked once per address.
type Answers struct {
	Resolver
	teams    map[uint64]event.Construct
	shares   map[uint64]event.Construct
	barriers map[uint64]BarrierKind
	apart    map[Following]bool
	singles  map[uint64]BarrierKind
	loops    map[uint64]InlineLoop
}

// NewAnswers returns the answers of a resolver.
func NewAnswers(r Resolver) *Answers {
	return &Answers{r, map[uint64]event.Construct{}, map[uint64]event.Construct{}, map[uint64]BarrierKind{}, map[Following]bool{},
		map[uint64]BarrierKind{}, map[uint64]InlineLoop{}}
}

// Team returns the construct that starts a team by a call at the address site.
func (a *Answers) Team(site uint64) event.Construct { return ask(a.teams, site, a.Resolver.Team) }

// Workshare returns the construct that libomp's ident_t at the address loc stands for.
func (a *Answers) Workshare(loc uint64) event.Construct {
	return ask(a.shares, loc, a.Resolver.Workshare)
}

// Barrier says which directive a barrier call belongs to, by libomp's ident_t.
func (a *Answers) Barrier(loc uint64) BarrierKind { return ask(a.barriers, loc, a.Resolver.Barrier) }

// Apart tells whether an implicit barrier of libomp cannot belong to the construct before it.
func (a *Answers) Apart(f Following) bool { return ask(a.apart, f, a.Resolver.Apart) }

// SingleBarrier says how GCC's single construct at the address site ends, in the outlined function
// fn.
func (a *Answers) SingleBarrier(site, fn uint64) BarrierKind {
	v, ok := a.singles[site]
	if !ok {
		v = a.Resolver.SingleBarrier(site, fn)
		a.singles[site] = v
	}
	return v
}

// LoopAfter returns the loop that begins behind an event at an address.
func (a *Answers) LoopAfter(addr uint64) InlineLoop { return ask(a.loops, addr, a.Resolver.LoopAfter) }

func ask[K comparable, V any](known map[K]V, at K, f func(K) V) V {
	v, ok := known[at]
	if !ok {
		v = f(at)
		known[at] = v
	}
	return v
}
