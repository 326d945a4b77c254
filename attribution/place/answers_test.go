package place

import (
	"testing"

	"ompp-attach/event"
)

// asked counts a resolver's questions. Its answers differ for each question and address.
type asked struct {
	Resolver
	n map[string]int
}

func (a *asked) Team(site uint64) event.Construct {
	a.n["team"]++
	return []event.Construct{event.NoConstruct, event.Parallel, event.ParallelLoop}[site]
}

func (a *asked) Workshare(loc uint64) event.Construct {
	a.n["workshare"]++
	return []event.Construct{event.NoConstruct, event.Loop, event.Sections}[loc]
}

func (a *asked) Barrier(loc uint64) BarrierKind {
	a.n["barrier"]++
	return []BarrierKind{BarrierUnknown, BarrierExplicit, BarrierImplicit}[loc]
}

func (a *asked) SingleBarrier(site, fn uint64) BarrierKind {
	a.n["single"]++
	if fn != 100+site {
		return BarrierNone
	}
	return []BarrierKind{BarrierUnknown, BarrierDropped, BarrierExplicit}[site]
}

func (a *asked) Apart(f Following) bool {
	a.n["apart"]++
	return f.Site == 1 && f.Share == 2 && f.Barrier == 3
}

func (a *asked) LoopAfter(addr uint64) InlineLoop {
	a.n["loop"]++
	return InlineLoop{Site: 2 * addr}
}

// Each question is asked once per address, also if the answer is the zero value. Its answer is that
// of the resolver, and of no other question.
func TestAnswersAreAskedOnce(t *testing.T) {
	r := &asked{n: map[string]int{}}
	a := NewAnswers(r)
	for range 3 {
		for at := range uint64(3) {
			if got, want := a.Team(at), []event.Construct{event.NoConstruct, event.Parallel, event.ParallelLoop}[at]; got != want {
				t.Errorf("team at %d: %s, want %s", at, got, want)
			}
			if got, want := a.Workshare(at), []event.Construct{event.NoConstruct, event.Loop, event.Sections}[at]; got != want {
				t.Errorf("workshare at %d: %s, want %s", at, got, want)
			}
			if got, want := a.Barrier(at), []BarrierKind{BarrierUnknown, BarrierExplicit, BarrierImplicit}[at]; got != want {
				t.Errorf("barrier at %d: %d, want %d", at, got, want)
			}
			if got, want := a.LoopAfter(at), (InlineLoop{Site: 2 * at}); got != want {
				t.Errorf("loop after %d: %v, want %v", at, got, want)
			}
			if got, want := a.Apart(Following{at, 2, 3}), at == 1; got != want {
				t.Errorf("barrier behind a loop at %d: apart %t, want %t", at, got, want)
			}
			if got, want := a.SingleBarrier(at, 100+at), []BarrierKind{BarrierUnknown, BarrierDropped, BarrierExplicit}[at]; got != want {
				t.Errorf("single at %d: %d, want %d", at, got, want)
			}
		}
	}
	for _, question := range []string{"team", "workshare", "barrier", "apart", "single", "loop"} {
		if r.n[question] != 3 {
			t.Errorf("%s: asked %d times of 3 addresses", question, r.n[question])
		}
	}
}
