package tree

import (
	"slices"
	"testing"

	"ompp-attach/attribution/place"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// noted is a resolver that notes which constructs it was told of.
type noted struct {
	place.Resolver
	seen []place.Key
}

func (n *noted) Seen(k place.Key) { n.seen = append(n.seen, k) }

func key(c event.Construct, site uint64) place.Key {
	return place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: c}, Site: site}
}

// A key has one child, in whichever order children are asked for, and the resolver hears of each
// child once.
func TestChild(t *testing.T) {
	r := &noted{}
	tr := New(r)
	keys := []place.Key{key(event.Loop, 1), key(event.Loop, 2), key(event.Single, 1), key(event.Barrier, 3)}
	first := map[place.Key]*Node{}
	for _, order := range [][]int{{0, 1, 2, 3}, {0, 1, 2, 3}, {3, 2, 1, 0}, {2, 2, 0, 3, 1}} {
		for _, i := range order {
			n := tr.Child(tr.Root, keys[i])
			if first[keys[i]] == nil {
				first[keys[i]] = n
			}
			if n != first[keys[i]] || n.Key != keys[i] || n.Parent != tr.Root {
				t.Fatalf("order %v: another child for %+v", order, keys[i])
			}
		}
	}
	if len(tr.Root.Children) != len(keys) || !slices.Equal(r.seen, keys) {
		t.Errorf("%d children, the resolver heard of %v", len(tr.Root.Children), r.seen)
	}
}

func TestExecutionKey(t *testing.T) {
	of := func(c event.Construct) place.Key {
		return place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: c, Runtime: event.Kmpc}, Fn: 1, Site: 2, Loc: 3}
	}
	for _, tc := range []struct{ created, want place.Key }{
		{of(event.Task), of(event.TaskExec)},
		{of(event.TaskLoop), of(event.TaskExec)},
		{of(event.UntiedTask), of(event.UntiedTaskExec)},
		{of(event.Loop), place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.TaskExec, Runtime: event.Kmpc}}},
	} {
		if got := ExecutionKey(tc.created); got != tc.want {
			t.Errorf("%+v: %+v, want %+v", tc.created, got, tc.want)
		}
	}
}

// Two kinds of tasks that create each other, from a region. A path enters their group once, and an
// execution inside the group stands where the group was entered.
func TestExecutionsOfRecursiveTasks(t *testing.T) {
	tr := New(&noted{})
	region := tr.Child(tr.Root, key(event.Parallel, 1))
	a, b := key(event.Task, 10), key(event.Task, 20)
	createA := tr.Child(region, a)
	runA := tr.Execution(createA)
	if runA.Parent != createA || runA.Key != key(event.TaskExec, 10) {
		t.Fatalf("the first execution is %+v", runA.Key)
	}
	if tr.Execution(createA) != runA {
		t.Error("another node for the same execution")
	}
	createB := tr.Child(runA, b)
	runB := tr.Execution(createB)
	if runB.Parent != createB {
		t.Error("no group is known yet, and the execution is elsewhere")
	}
	if again := tr.Execution(tr.Child(runB, a)); again != runA {
		t.Errorf("the execution that closes the circle is not the one around it: %+v", again.Key)
	}
	// The group is known now: the cached node of B is outdated.
	if folded := tr.Execution(createB); folded.Parent != region || folded.Key != ExecutionKey(b) {
		t.Errorf("an execution inside of the group has the parent %+v", folded.Parent.Key)
	}
	// Elsewhere nothing is known of that group.
	other := tr.Child(tr.Root, key(event.Parallel, 2))
	otherB := tr.Child(tr.Execution(tr.Child(other, a)), b)
	if run := tr.Execution(otherB); run.Parent != otherB {
		t.Error("another region's groups are taken")
	}
}

func TestCreations(t *testing.T) {
	c := NewCreations[string]()
	for _, step := range []struct {
		by, created string
		changed     bool
	}{{"a", "b", false}, {"b", "c", false}, {"a", "a", false}, {"c", "a", true}, {"c", "a", false}, {"c", "d", false}, {"e", "f", false}, {"f", "e", true}} {
		if got := c.Add(step.by, step.created); got != step.changed {
			t.Errorf("%s creates %s: changed %t", step.by, step.created, got)
		}
	}
	for _, tc := range []struct {
		a, b string
		same bool
	}{{"a", "b", true}, {"b", "c", true}, {"d", "d", true}, {"a", "d", false}, {"d", "x", false}, {"e", "f", true}, {"a", "e", false}} {
		if got := c.Same(tc.a, tc.b); got != tc.same {
			t.Errorf("%s and %s: same %t", tc.a, tc.b, got)
		}
	}
}

// Figures and samples of a seat move at a node and below, and add to those that are there.
func TestMoveSeat(t *testing.T) {
	tr := New(&noted{})
	n := tr.Child(tr.Root, key(event.Parallel, 1))
	below := tr.Child(n, key(event.Critical, 2))
	for i, at := range []*Node{n, below} {
		at.Stat(1).Exec = profile.Sum{T: 10, C: uint64(1 + i)}
		at.Stat(2).Exec = profile.Sum{T: 100, C: 5}
		at.Samples.Add(SampleID{Seat: 1, Stack: 7}, SampleSum{2, 20})
		at.Samples.Add(SampleID{Seat: 2, Stack: 7}, SampleSum{1, 10})
		at.Samples.Add(SampleID{Seat: 3, Stack: 7}, SampleSum{4, 40})
	}
	n.MoveSeat(1, 2)
	for i, at := range []*Node{n, below} {
		if at.Stat(1).Exec != (profile.Sum{}) || at.Stat(2).Exec != (profile.Sum{T: 110, C: uint64(6 + i)}) {
			t.Errorf("node %d: %+v and %+v", i, at.Stat(1).Exec, at.Stat(2).Exec)
		}
		want := Sums{{Seat: 2, Stack: 7}: {3, 30}, {Seat: 3, Stack: 7}: {4, 40}}
		if len(at.Samples) != 2 || at.Samples[SampleID{Seat: 2, Stack: 7}] != want[SampleID{Seat: 2, Stack: 7}] || at.Samples[SampleID{Seat: 3, Stack: 7}] != want[SampleID{Seat: 3, Stack: 7}] {
			t.Errorf("node %d: samples %v", i, at.Samples)
		}
	}
	was := *n.Stat(2)
	if n.MoveSeat(2, 2); n.Stat(2).Exec != was.Exec {
		t.Error("a move to the same seat changes figures")
	}
}

// The spread sums squares of the executions in each of the region's executions. Inner regions have
// their own.
func TestSpread(t *testing.T) {
	tr := New(&noted{})
	region := tr.Child(tr.Root, key(event.Parallel, 1))
	inside, inner := tr.Child(region, key(event.Critical, 2)), tr.Child(region, key(event.Parallel, 3))
	inside.Stat(0).Exec.C, inner.Stat(0).Exec.C = 3, 5
	region.NoteSpread(0)
	inside.Stat(0).Exec.C, inner.Stat(0).Exec.C = 7, 6
	for range 2 { // asking changes nothing
		if got := inside.SpreadUntil(0).Squares; got != 3*3+4*4 {
			t.Errorf("squares %g, want 25", got)
		}
	}
	if got := inner.SpreadUntil(0).Squares; got != 6*6 {
		t.Errorf("an inner region's squares: %g, want 36", got)
	}
	if got := inside.SpreadUntil(9); got != (Spread{}) {
		t.Errorf("a seat without figures: %+v", got)
	}
}

func TestWhatNodesHold(t *testing.T) {
	tr := New(&noted{})
	user := tr.Child(tr.Root, key(event.UserRegion, 1))
	call := tr.Child(user, key(event.MPI, 2))
	if user.HoldsOpenMP() || call.HoldsAnything() || !user.HoldsAnything() {
		t.Error("a user region with an MPI call: OpenMP, or nothing")
	}
	inner := tr.Child(user, key(event.UserRegion, 3))
	region := tr.Child(inner, key(event.Parallel, 4))
	critical := tr.Child(tr.Child(region, key(event.Loop, 5)), key(event.Critical, 6))
	if !user.HoldsOpenMP() {
		t.Error("a parallel region in an inner user region is not seen")
	}
	if critical.Region() != region || region.Region() != nil || !region.IsRegion() || inner.IsRegion() {
		t.Error("the region around a node is another one")
	}
	critical.Stat(1).Exec.C = 1
	if !critical.HoldsAnything() {
		t.Error("a node with figures holds nothing")
	}
	unknown := tr.Child(tr.Root, key(event.Unknown, 0))
	if unknown.IsRegion() || unknown.HoldsAnything() {
		t.Error("an unknown place is a known region, or holds something")
	}
	unknown.Samples.Add(SampleID{}, SampleSum{1, 1})
	if !unknown.HoldsAnything() {
		t.Error("a node with samples holds nothing")
	}
	var found []*Node
	tr.Root.Each(event.SetOf(event.Critical, event.UserRegion), func(n *Node) { found = append(found, n) })
	if !slices.Equal(found, []*Node{user, inner, critical}) {
		t.Errorf("%d nodes of two constructs", len(found))
	}
}
