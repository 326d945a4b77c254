package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// No time is in two classes. Each construct takes 100, of which 60 are a barrier. MPI calls from
// the construct itself take 40, 10 of them in the barrier. Tasks in the barrier take 20.
func TestClassifyMPI(t *testing.T) {
	// The overheads of all classes but MPI.
	for c, want := range map[event.Construct]struct{ disjoint, classic int64 }{
		event.Atomic:       {60, 100},
		event.Flush:        {60, 100},
		event.Cancel:       {60, 100},
		event.Barrier:      {70, 80},
		event.Loop:         {30, 40},
		event.Scope:        {30, 40},
		event.Workshare:    {30, 40},
		event.Parallel:     {30, 40},
		event.ParallelLoop: {30, 40},
		event.Teams:        {30, 40},
		event.Single:       {30, 40},
		event.TaskWait:     {50, 0},
		event.TaskGroup:    {50, 0},
		event.Task:         {60, 0},
		event.TaskLoop:     {60, 0},
		event.Critical:     {0, 0},
		event.Master:       {0, 0},
		event.TaskExec:     {0, 0},
		event.UserRegion:   {0, 0},
	} {
		calls := profile.MPIStats{T: 40, Calls: 2, Wait: 10}
		s := stats{Exec: span(100, 1), Body: span(40, 1), Barrier: span(60, 1), Task: 20, Child: 40, MPI: &calls}
		p := profileOf(t, 1000, two, []event.Construct{c, event.MPI}, []profile.Node{
			{Parent: 0, Region: 0, Stats: []stats{s}},
			{Parent: 1, Region: 1, Stats: []stats{{Exec: span(40, 2), Body: span(40, 2), MPI: &calls}}}})
		for _, hide := range []bool{false, true} {
			if hide { // the calls' regions are gone, the figures are as before
				profile.Hide(p, func(r *profile.Region) bool { return r.Construct == event.MPI })
			}
			for r, rest := range map[Rules]int64{Disjoint: want.disjoint, Classic: want.classic} {
				var got Classes
				for i := range p.Nodes {
					for _, of := range r.Classify(p, i) {
						got.Add(of)
					}
				}
				if got.MPI != 40 || got.Sum()-got.MPI != rest {
					t.Errorf("%s, rules %d, hidden %t: %+v, want MPI 40 and %d besides", c, r, hide, got, rest)
				}
			}
		}
	}
}

// Thread 1 works for 100. Meanwhile thread 0 waits at a barrier for 40 and executes a task: 30 of
// the task are MPI, 30 are its own.
func TestMPIOfTasksIsNoWait(t *testing.T) {
	send, _ := mpi.ParseOp("MPI_Send")
	s := stream.Stream{PID: 1, End: 200}
	at := func(time uint64, tid uint32, c event.Construct, e event.Edge, more event.Event) {
		more.Time, more.PID, more.TID, more.Construct, more.Edge, more.Runtime = time, 1, tid, c, e, event.Gomp
		s.Events = append(s.Events, more)
	}
	at(0, 1, event.Parallel, event.Fork, event.Event{Fn: 300, Key: 7, Size: 2, Site: 90})
	at(0, 1, event.Parallel, event.Begin, event.Event{Key: 7})
	at(0, 2, event.Parallel, event.Begin, event.Event{Key: 7, Num: 1})
	at(0, 2, event.Task, event.Enter, event.Event{Fn: 320, Key: 70})
	at(0, 2, event.Task, event.Released, event.Event{})
	at(0, 1, event.Barrier, event.Wait, event.Event{Site: 400})
	at(10, 1, event.TaskExec, event.Begin, event.Event{Key: 70})
	at(50, 1, event.MPI, event.Released, event.Event{Site: 500, MPI: &event.MPICall{Op: send, Start: 20}})
	at(70, 1, event.TaskExec, event.End, event.Event{Key: 70})
	at(100, 1, event.Barrier, event.Waited, event.Event{})
	at(100, 2, event.Barrier, event.Wait, event.Event{Site: 400})
	at(100, 2, event.Barrier, event.Waited, event.Event{})
	at(100, 1, event.Parallel, event.End, event.Event{})
	at(100, 2, event.Parallel, event.End, event.Event{})
	at(100, 1, event.Parallel, event.Join, event.Event{})
	p := attribution.Replay(&s)
	o := Overheads(p)
	if len(o) != 1 || o[0].Total != 200 {
		t.Fatalf("%+v", o)
	}
	if d := cmp.Diff(Classes{Synch: 40, MPI: 30}, o[0].Classes); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	p.Meta.Duration = 100
	for _, want := range []Property{{Name: MPITimeInParallelRegion, Region: 0, Severity: .15}, {Name: WaitAtBarrier, Region: 1, Severity: .2}} {
		found := false
		for _, got := range Properties(p) {
			found = found || got.Name == want.Name && got.Severity == want.Severity
		}
		if !found {
			t.Errorf("no %+v in %+v", want, Properties(p))
		}
	}
}

// MPI outside of parallel regions is not in the tables, but in Outside.
func TestMPIOutside(t *testing.T) {
	calls := profile.MPIStats{T: 40, Calls: 1}
	p := profileOf(t, 100, two, []event.Construct{event.MPI}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{{Exec: span(40, 1), MPI: &calls}}}})
	p.Nodes[0].Stats = []stats{{MPI: &calls}}
	for _, hide := range []bool{false, true} {
		if hide {
			profile.Hide(p, func(*profile.Region) bool { return true })
		}
		if got := Outside(p); got != (Classes{MPI: 40}) {
			t.Errorf("hidden %t: %+v", hide, got)
		}
	}
	if serial := SerialTimes(p); serial[0].Time != 100 {
		t.Errorf("serial time %d with the calls hidden, want the whole 100", serial[0].Time)
	}
}

// Calls in a region within itself count once.
func TestFlatMPIOfRecursion(t *testing.T) {
	outer, inner := profile.MPIStats{T: 40, Calls: 2}, profile.MPIStats{T: 10, Calls: 1}
	p := profileOf(t, 100, two, []event.Construct{event.UserRegion}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{{Exec: span(90, 1), MPI: &outer}}},
		{Parent: 1, Region: 0, Stats: []stats{{Exec: span(50, 1), MPI: &inner}}}})
	if got := Flat(p)[0].Sum.MPI; got == nil || *got != outer {
		t.Errorf("%+v, want %+v", got, outer)
	}
}
