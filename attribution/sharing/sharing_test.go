package sharing

import (
	"testing"

	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// files answers that barriers by their ident_t: 1 is a directive, 2 the end of a construct, and 3
// that of another construct than the one before it.
type files struct{ place.Resolver }

func (files) Barrier(loc uint64) place.BarrierKind {
	return map[uint64]place.BarrierKind{1: place.BarrierExplicit, 2: place.BarrierImplicit, 3: place.BarrierImplicit}[loc]
}

func (files) Apart(f place.Following) bool { return f.Barrier == 3 }

// constructs returns those of a process without events.
func constructs() *Constructs {
	st := &stack.Stacks{}
	st.Tree = tree.New(files{})
	return &Constructs{st}
}

// open returns a region of a construct in a phase.
func open(c event.Construct, p stack.Phase) *stack.OpenRegion {
	n := &tree.Node{}
	n.Key.Construct = c
	return &stack.OpenRegion{Node: n, Phase: p}
}

// TestSectionsOfThread: libomp deals out sections in equal shares, the first threads get the rest.
func TestSectionsOfThread(t *testing.T) {
	for _, c := range []struct {
		sections  int64
		num, size int32
		want      uint64
	}{
		{7, 0, 3, 3}, {7, 1, 3, 2}, {7, 2, 3, 2}, {8, 1, 3, 3}, {2, 1, 4, 1}, {2, 2, 4, 0}, {0, 0, 4, 0}, {-8, 0, 4, 0}, {5, 0, 0, 0},
	} {
		if got := sectionsOfThread(c.sections, c.num, c.size); got != c.want {
			t.Errorf("thread %d of %d has %d of %d sections, want %d", c.num, c.size, got, c.sections, c.want)
		}
	}
}

// TestContinues: which events belong to the construct whose share a thread has done.
func TestContinues(t *testing.T) {
	for _, c := range []struct {
		of   event.Construct
		ev   event.Event
		want bool
	}{
		{event.Single, event.Event{Edge: event.Waited, Construct: event.Single}, true},
		{event.Loop, event.Event{Edge: event.Waited, Construct: event.Loop}, false},
		{event.Loop, event.Event{Edge: event.Open, Construct: event.Loop}, false},
		{event.Loop, event.Event{Edge: event.Wait, Construct: event.Loop}, true},
		{event.Loop, event.Event{Edge: event.Wait, Construct: event.Sections}, true},
		{event.Loop, event.Event{Edge: event.Wait, Construct: event.ReductionBarrier}, true},
		{event.Loop, event.Event{Edge: event.Wait, Construct: event.TaskWait}, false},
		{event.Loop, event.Event{Edge: event.Wait, Construct: event.Barrier}, false}, // of libgomp
		{event.Single, event.Event{Edge: event.Wait, Construct: event.Barrier}, true},
		{event.Loop, event.Event{Edge: event.Wait, Construct: event.Barrier, Loc: 1}, false},
		{event.Loop, event.Event{Edge: event.Wait, Construct: event.Barrier, Loc: 2}, true},
		{event.Loop, event.Event{Edge: event.Wait, Construct: event.Barrier, Loc: 3}, false},
		{event.Barrier, event.Event{Edge: event.Wait, Construct: event.Barrier, Loc: 3}, true},
		{event.Barrier, event.Event{Edge: event.Wait, Construct: event.Barrier, Loc: 1}, false},
		{event.Barrier, event.Event{Edge: event.Wait, Construct: event.Barrier}, false},
	} {
		if got := constructs().Continues(open(c.of, stack.Done), &c.ev); got != c.want {
			t.Errorf("a %v and the %v of a %v by ident_t %d: %t", c.of, c.ev.Edge, c.ev.Construct, c.ev.Loc, got)
		}
	}
}

// TestEndsEarly: which constructs an implicit barrier ends before their own end was seen.
func TestEndsEarly(t *testing.T) {
	for _, c := range []struct {
		of    event.Construct
		phase stack.Phase
		ev    event.Event
		want  bool
	}{
		{event.Loop, stack.InBody, event.Event{Construct: event.Barrier, Loc: 2}, true},
		{event.Sections, stack.InBody, event.Event{Construct: event.Barrier, Loc: 2}, true},
		{event.Scope, stack.InBody, event.Event{Construct: event.Barrier, Loc: 2}, true},
		{event.Scope, stack.InBody, event.Event{Construct: event.Barrier}, true},
		{event.Loop, stack.InBody, event.Event{Construct: event.Barrier}, false},
		{event.Loop, stack.InBody, event.Event{Construct: event.Barrier, Loc: 1}, false},
		{event.Scope, stack.InBody, event.Event{Construct: event.Barrier, Loc: 1}, false},
		{event.Single, stack.InBody, event.Event{Construct: event.Barrier, Loc: 2}, false},
		{event.Loop, stack.Done, event.Event{Construct: event.Barrier, Loc: 2}, false},
		{event.Loop, stack.InBody, event.Event{Construct: event.Loop, Loc: 2}, false},
	} {
		if got := constructs().endsEarly(open(c.of, c.phase), &c.ev); got != c.want {
			t.Errorf("a %v in phase %d and a %v by ident_t %d: %t", c.of, c.phase, c.ev.Construct, c.ev.Loc, got)
		}
	}
	if constructs().endsEarly(nil, &event.Event{Construct: event.Barrier, Loc: 2}) {
		t.Error("a barrier outside of all regions ends one")
	}
}

// TestEndsShare: which events show that a thread has left its loop.
func TestEndsShare(t *testing.T) {
	for _, c := range []struct {
		edge event.Edge
		of   event.Construct
		want bool
	}{
		{event.Open, event.Loop, true}, {event.Open, event.Critical, false}, {event.Wait, event.Barrier, true},
		{event.Wait, event.TaskWait, false}, {event.End, event.Parallel, true}, {event.End, event.Task, false}, {event.Close, event.Loop, false},
	} {
		if got := endsShare(&event.Event{Edge: c.edge, Construct: c.of}); got != c.want {
			t.Errorf("%v of a %v: %t", c.edge, c.of, got)
		}
	}
}
