package attribution

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// probed returns what a stream would have been, had each event been reported by a probe that took
// time. Every thread is later by all that its earlier hits took, and by a hit's own first part. For
// threads that do not wait for each other.
func probed(events []event.Event, kind func(*event.Event) event.Probe, costs *event.HitCosts) (out []event.Event, taken map[uint32]int64) {
	taken = map[uint32]int64{}
	for _, ev := range events {
		ev.Probe = kind(&ev)
		c := costs.Kinds[ev.Probe]
		d := taken[ev.TID]
		if ev.MPI != nil {
			call := *ev.MPI
			ret := costs.Kinds[event.ProbeReturn]
			reading := c.After - costs.Kinds[ev.Probe.WithoutReads()].After
			d += c.Before + reading
			call.Start += uint64(d)
			ev.MPI = &call
			d += c.After - reading - costs.Record + ret.Before
			ev.Time += uint64(d)
			taken[ev.TID] = d + ret.After
		} else {
			ev.Time += uint64(d + c.Before)
			taken[ev.TID] = d + c.Sum()
		}
		out = append(out, ev)
	}
	return out, taken
}

func testCosts() *event.HitCosts {
	c := &event.HitCosts{Record: 10}
	for p, v := range map[event.Probe]event.HitCost{
		event.ProbeNop5: {Before: 30, After: 17}, event.ProbeEmulated: {Before: 41, After: 27}, event.ProbeCall: {Before: 43, After: 29},
		event.ProbeSingleStep: {Before: 61, After: 1003}, event.ProbeReturn: {Before: 26, After: 19},
		event.ProbeEmulated.Reading(1): {Before: 41, After: 38},
	} {
		c.Kinds[p] = v
	}
	return c
}

// someKind spreads the kinds over the events.
func someKind(ev *event.Event) event.Probe {
	switch {
	case ev.MPI != nil:
		return event.ProbeEmulated.Reading(1)
	case ev.Edge == event.Acquired, ev.Edge == event.Waited, ev.Edge == event.Result:
		return event.ProbeReturn
	case ev.Construct.IsParallel():
		return event.ProbeCall
	case ev.Construct.IsTasking():
		return event.ProbeNop5
	case ev.Edge == event.Open:
		return event.ProbeSingleStep
	}
	return event.ProbeEmulated
}

// takeOut subtracts a profile's costs from its times: no clipping, for here they
// are known exactly.
func takeOut(p *profile.Profile) *profile.Profile {
	for i := range p.Nodes {
		for j := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[j]
			if m := s.MPI; m != nil {
				m.T, m.Cost = m.T-m.Cost, 0
			}
			if i > 0 && tree.IsExecution(p.Regions[p.Nodes[i].Region].Construct) {
				s.Enter.T = 0 // queueing: other tasks are executed meanwhile, with their probes
			}
			if c := s.Cost; c != nil && i > 0 {
				for p, part := range s.Parts() {
					part.T -= *c.Parts()[p]
				}
				s.Child, s.Task = s.Child-c.Child, s.Task-c.Task
			}
		}
	}
	return p
}

// Of threads that wait for nobody, what is left after taking out the costs is to
// the nanosecond what would have been without the probes.
func TestCostsExactly(t *testing.T) {
	costs, tried := testCosts(), 0
	for _, tc := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases) {
		events := parse(t, tc.events)
		if slices.ContainsFunc(events, func(ev event.Event) bool { return ev.TID != events[0].TID }) {
			continue
		}
		tried++
		t.Run(tc.name, func(t *testing.T) {
			const late = 1000 // after all
			want := table(takeOut(replay(events, late)))
			later, taken := probed(events, someKind, costs)
			// The cost of the last hit lies beyond what an end can know of.
			last := costs.Kinds[later[len(later)-1].Probe].After
			got := replayCosts(later, late+uint64(taken[events[0].TID]-last), costs)
			if d := cmp.Diff(want, table(takeOut(got))); d != "" {
				t.Errorf("-without probes +with them\n%s", d)
			}
		})
	}
	if tried < 40 {
		t.Errorf("only %d cases are of one thread", tried)
	}
}

func replayCosts(events []event.Event, end uint64, costs *event.HitCosts) *profile.Profile {
	e := New(1, fakeFiles{})
	e.Costs(*costs)
	for i := range events {
		e.Feed(&events[i])
	}
	return e.Finish(end)
}

// Calls of MPI are two hits of which one event tells.
func TestCostsOfCalls(t *testing.T) {
	costs := testCosts()
	events := parse(t, `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		40 1 released mpi site=400 op=MPI_Send from=10 bytes=8
		70 1 released mpi site=400 op=MPI_Recv from=55 bytes=8
		90 1 end parallel
		95 1 join parallel
		110 1 released mpi site=400 op=MPI_Send from=100 bytes=8`)
	run := func(events []event.Event, c *event.HitCosts) []string {
		e := New(1, mpiFiles{})
		e.Costs(*c)
		for i := range events {
			e.Feed(&events[i])
		}
		return mpiTable(takeOut(e.Finish(100000)))
	}
	later, _ := probed(events, someKind, costs)
	if d := cmp.Diff(run(events, &event.HitCosts{}), run(later, costs)); d != "" {
		t.Errorf("-without probes +with them\n%s", d)
	}
}

// A team. What delays all delays each one's startup and shutdown. What a thread waits in the final
// barrier only because another one had more hits is taken out of its wait.
func TestCostsOfATeam(t *testing.T) {
	costs := testCosts()
	events := parse(t, `
		1000 1 fork parallel fn=300 key=7 size=2 site=90
		1200 1 begin parallel
		1300 2 begin parallel key=7 num=1
		1500 2 enter critical site=400 free noret
		1700 2 release critical free noret
		3000 1 end parallel
		9000 2 end parallel
		9500 1 join parallel`)
	for i := range events {
		events[i].Probe = event.ProbeEmulated
	}
	p := replayCosts(events, 10000, costs)
	got := map[int]profile.Cost{}
	for _, n := range p.Nodes {
		if n.Region >= 0 && p.Regions[n.Region].Construct == event.Parallel {
			for _, s := range n.Stats {
				got[p.Threads[s.Thread].Num] = *s.Cost
			}
		}
	}
	const before, after, both = 41, 27, 68
	want := map[int]profile.Cost{
		0: {Exec: 5 * both, Enter: both, Body: both, Barrier: 2 * both, Exit: both, Wait: 2 * both},
		1: {Exec: 5 * both, Enter: both, Body: 3 * both, Exit: both, Child: both},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if c := p.Nodes[0].Stats; len(c) != 2 || c[0].Cost.Exec+c[1].Cost.Exec != 8*both || before+after != both {
		t.Errorf("the program: %+v", c)
	}
	if o := p.Meta.Overhead; o == nil || o.Total() != 8*both || len(o.Probes) != 1 || o.Probes[0].Hits != 8 {
		t.Errorf("overhead: %+v", o)
	}
	var b bytes.Buffer
	if err := profile.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	if back, err := profile.Decode(&b); err != nil || cmp.Diff(p, back) != "" {
		t.Errorf("recorded and read: %v %s", err, cmp.Diff(p, back))
	}
}

// Executions that the kernel side adds up cost what they would one by one.
func TestCostsOfFolds(t *testing.T) {
	costs := testCosts()
	costs.Kinds[event.ProbeFolded] = event.HitCost{Before: 40, After: 20}
	costs.Kinds[event.ProbeFoldedReturn] = event.HitCost{Before: 26, After: 9}
	for _, tc := range []struct {
		name    string
		fold    event.Fold
		probe   event.Probe
		inside  profile.Cost
		outside int64
	}{
		{"free", event.Fold{Executions: 10, Bodies: 10, Hits: 20, Body: 1000}, event.ProbeEmulated,
			profile.Cost{Exec: 600, Body: 600}, 600},
		{"waited for", event.Fold{Executions: 10, Bodies: 10, Hits: 30, Enter: 900, Body: 1000}, event.ProbeEmulated,
			profile.Cost{Exec: 10 * (46 + 49), Enter: 460, Body: 490}, 600},
		{"waited for by some", event.Fold{Executions: 10, Bodies: 10, Hits: 24, Enter: 900, Body: 1000}, event.ProbeEmulated,
			profile.Cost{Exec: 4*46 + 4*49 + 6*60, Enter: 4 * 46, Body: 4*49 + 6*60}, 600},
		{"both calls return", event.Fold{Executions: 10, Bodies: 10, Hits: 40, Enter: 900, Body: 1000, Exit: 900}, event.ProbeEmulated,
			profile.Cost{Exec: 10 * (46 + 49 + 46), Enter: 460, Body: 490, Exit: 460}, 10 * (40 + 9)},
		{"without a body", event.Fold{Executions: 10, Hits: 20, Exit: 900}, event.ProbeEmulated,
			profile.Cost{Exec: 460, Exit: 460}, 10 * (40 + 9)},
		{"tested in vain", event.Fold{Hits: 20}, event.ProbeEmulated, profile.Cost{}, 10*60 + 10*35},
		{"single-stepped", event.Fold{Executions: 1, Bodies: 1, Hits: 2, Body: 5000}, event.ProbeSingleStep,
			profile.Cost{Exec: 60 + 20 + 976, Body: 60 + 20 + 976}, 60 + 20 + 976},
	} {
		var l ledger.Ledger
		l.SetCosts(*costs)
		inside, outside := l.FoldCost(&tc.fold, tc.probe)
		if inside != tc.inside || outside != tc.outside {
			t.Errorf("%s: %+v and %d outside, want %+v and %d", tc.name, inside, outside, tc.inside, tc.outside)
		}
	}

	// In the region around them, and in all.
	events := parse(t, `
		1000 1 fork parallel fn=300 key=7 size=1 site=90
		2000 1 begin parallel
		9000 1 end parallel
		9500 1 join parallel`)
	for i := range events {
		events[i].Probe = event.ProbeEmulated
	}
	events = slices.Insert(events, 2, event.Event{Time: 3000, PID: 1, TID: 1, Construct: event.Critical, Edge: event.Folded, Site: 400,
		Probe: event.ProbeEmulated, Fold: &event.Fold{Executions: 10, Bodies: 10, Hits: 20, Last: 5000, Body: 1000}})
	p := replayCosts(events, 10000, costs)
	const both = 41 + 27
	for i, want := range []profile.Cost{{Exec: 4*both + 20*60}, {Exec: 3*both + 1200, Enter: both, Body: both + 1200, Exit: both, Child: 600}, {Exec: 600, Body: 600}} {
		if got := *p.Nodes[i].Stats[0].Cost; got != want {
			t.Errorf("node %d: %+v, want %+v", i, got, want)
		}
	}
	if o := p.Meta.Overhead; o.Total() != 4*both+1200 {
		t.Errorf("in all %d: %+v", o.Total(), o)
	}
}
