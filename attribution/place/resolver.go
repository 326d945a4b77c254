package place

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// BarrierKind says which directive a barrier belongs to.
type BarrierKind uint8

// The kinds of barriers.
const (
	BarrierUnknown  BarrierKind = iota
	BarrierExplicit             // a barrier directive
	BarrierImplicit             // the end of a worksharing construct
	// Implicit, and removed by the compiler: the parallel region ends there.
	BarrierDropped
	BarrierNone // no barrier, and a probe tells the end of the body
)

// Following is an implicit barrier of libomp that a thread comes to behind a worksharing construct,
// without another call in between.
type Following struct {
	Site    uint64 `json:"site,omitempty"` // to which the call returned that began the construct
	Share   uint64 `json:"share"`          // ident_t of the construct
	Barrier uint64 `json:"barrier"`        // ident_t of the barrier
}

// InlineLoop is a static loop that makes no call.
type InlineLoop struct {
	Site uint64          // the address that names it; 0: there is none
	End  event.InlineEnd // how it ends
}

// Resolver answers the questions that only the program's files can answer. The engine asks each
// question once per address.
type Resolver interface {
	// Team returns the construct that starts a team by a call that returns to the address site.
	// A site inside the runtime belongs to a combined construct: GOMP_parallel_loop_* and
	// GOMP_parallel_sections start their teams by a call of their own.
	Team(site uint64) event.Construct
	// Workshare returns the construct that libomp's ident_t at the address loc stands for:
	// Loop, Sections, or NoConstruct if the ident_t does not say.
	Workshare(loc uint64) event.Construct
	// Barrier says which directive a barrier call belongs to, by libomp's ident_t.
	Barrier(loc uint64) BarrierKind
	// Apart tells whether an implicit barrier of libomp cannot belong to the worksharing
	// construct before it. It then belongs to another construct, which made no other call
	// because its loop was empty.
	Apart(Following) bool
	// SingleBarrier says how a single construct of GCC's code ends. site is the address to
	// which its GOMP_single_start returns. The single ends with a barrier (BarrierImplicit),
	// without one because of nowait (BarrierExplicit), or with the parallel region of the
	// outlined function fn (BarrierDropped).
	SingleBarrier(site, fn uint64) BarrierKind
	// LoopAfter returns the static loop of GCC's code that each thread begins right behind
	// another event. That event is the beginning of the region with the outlined function at
	// addr. Or it is the end of the barrier with a call that returns to addr. Such a loop needs
	// no probe of its own at its beginning.
	LoopAfter(addr uint64) InlineLoop
	// Seen tells the resolver that a construct occurs for the first time. The library of the
	// construct may be unloaded before the profile is built.
	Seen(Key)
	// Region finds the place in the source. It may refine the construct.
	Region(Key) profile.Region
	// Around returns the parallel region whose outlined function contains the address. It
	// answers false if no region's function does.
	Around(addr uint64) (profile.Region, bool)
	// Code names the places of a sampled instruction. If functions were inlined there, each has
	// a frame, the innermost first.
	Code(addr uint64) []profile.Frame
}
