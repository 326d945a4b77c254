package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// TestClassify compares each construct with ompP's table of overhead classes. The times are chosen
// so that all of their sums differ.
func TestClassify(t *testing.T) {
	const enter, body, barrier, exit, rest = 1, 10, 100, 1000, 10000
	const exec = enter + body + barrier + exit + rest
	for c, want := range map[event.Construct]Classes{
		event.Atomic:            {Synch: exec},
		event.Flush:             {Synch: exec},
		event.Barrier:           {Synch: exec},
		event.Critical:          {Synch: enter, Mgmt: exit},
		event.Ordered:           {Synch: enter, Mgmt: exit},
		event.Lock:              {Synch: enter, Mgmt: exit},
		event.NestLock:          {Synch: enter, Mgmt: exit},
		event.Loop:              {Imbal: barrier},
		event.Workshare:         {Imbal: barrier},
		event.Parallel:          {Imbal: barrier, Mgmt: enter + exit},
		event.ParallelLoop:      {Imbal: barrier, Mgmt: enter + exit},
		event.ParallelWorkshare: {Imbal: barrier, Mgmt: enter + exit},
		event.Unknown:           {Imbal: barrier, Mgmt: enter + exit},
		event.Sections:          {Imbal: barrier, Mgmt: enter + exit + rest},
		event.ParallelSections:  {Imbal: barrier, Mgmt: enter + exit},
		event.Single:            {Limpar: barrier},
		event.Teams:             {Imbal: barrier, Mgmt: enter + exit},
		event.Distribute:        {},
		event.Scope:             {Imbal: barrier},
		event.Reduction:         {Synch: enter, Mgmt: exit},
		event.Cancel:            {Synch: exec},
		event.CancellationPoint: {Synch: exec},
		event.Target:            {},
		event.TargetData:        {Mgmt: enter + exit},
		event.TargetEnterData:   {Mgmt: enter + exit},
		event.TargetExitData:    {Mgmt: enter + exit},
		event.TargetUpdate:      {Mgmt: enter + exit},
		event.Master:            {},
		event.Masked:            {},
		event.Task:              {Mgmt: exec},
		event.TaskLoop:          {Mgmt: exec},
		event.TaskExec:          {},
		event.TaskWait:          {Synch: barrier},
		event.TaskGroup:         {Synch: barrier},
		event.UserRegion:        {},
	} {
		p := profileOf(t, 1, two, []event.Construct{c}, []profile.Node{{Parent: 0, Region: 0, Stats: []stats{
			{Thread: 1, Exec: span(exec, 2), Enter: span(enter, 2), Body: span(body, 2), Barrier: span(barrier, 2), Exit: span(exit, 2)},
			{Thread: 0}}}})
		if d := cmp.Diff(want, Classify(p, 1)[0]); d != "" {
			t.Errorf("%s (-want +got):\n%s", c, d)
		}
	}
}

func TestSectionsThatAreTooFewLimitParallelism(t *testing.T) {
	for _, c := range []event.Construct{event.Sections, event.ParallelSections} {
		for _, tt := range []struct {
			sections uint64 // that thread 0 executed; thread 1 none, each came once
			want     Classes
		}{
			{1, Classes{Limpar: 5}},
			{2, Classes{Imbal: 5}},
			{3, Classes{Imbal: 5}},
		} {
			p := profileOf(t, 1, two, []event.Construct{c}, []profile.Node{{Parent: 0, Region: 0, Stats: []stats{
				{Thread: 0, Exec: span(5, 1), Body: span(5, tt.sections)},
				{Thread: 1, Exec: span(5, 1), Barrier: span(5, 1)}}}})
			if got := Classify(p, 1)[1]; got != tt.want {
				t.Errorf("%s, %d sections for 2 threads: %+v, want %+v", c, tt.sections, got, tt.want)
			}
		}
	}
}

// Where a parallel region has the sections, and the construct in it only their end, the number of
// the region's sections counts.
func TestSectionsOfTheirRegion(t *testing.T) {
	for sections, want := range map[uint64]Classes{1: {Limpar: 5}, 2: {Imbal: 5}} {
		p := profileOf(t, 1, two, []event.Construct{event.ParallelSections, event.Sections}, []profile.Node{
			{Parent: 0, Region: 0, Stats: []stats{{Thread: 0, Exec: span(9, 1), Body: span(5, sections), Child: 1}, {Thread: 1, Exec: span(9, 1), Child: 5}}},
			{Parent: 1, Region: 1, Stats: []stats{{Thread: 0, Exec: span(1, 1), Barrier: span(1, 1)}, {Thread: 1, Exec: span(5, 1), Barrier: span(5, 1)}}}})
		if got := Classify(p, 2)[1]; got != want {
			t.Errorf("%d sections for 2 threads: %+v, want %+v", sections, got, want)
		}
	}
}

// Tasks that a thread executes while waiting are no overhead. The bodies of tasks that were
// executed inside the call that created them are no cost of creation.
func TestExecutedTasksAreTakenOff(t *testing.T) {
	for _, tt := range []struct {
		construct event.Construct
		want      Classes
	}{
		{event.Barrier, Classes{Synch: 17}},
		{event.TaskWait, Classes{Synch: 10}}, // leaves them out already
		{event.TaskGroup, Classes{Synch: 10}},
		{event.Parallel, Classes{Imbal: 7}},
		{event.ParallelLoop, Classes{Imbal: 7}},
		{event.Loop, Classes{Imbal: 7}},
		{event.Single, Classes{Limpar: 7}},
		{event.Sections, Classes{Imbal: 7, Mgmt: 5}},
		{event.Task, Classes{Mgmt: 16}},
		{event.TaskLoop, Classes{Mgmt: 16}},
		{event.TaskExec, Classes{}},
	} {
		p := profileOf(t, 1, two, []event.Construct{tt.construct}, []profile.Node{{Parent: 0, Region: 0, Stats: []stats{
			{Exec: span(20, 1), Body: span(5, 1), Barrier: span(10, 1), Child: 4, Task: 3, Tasks: 1}, {Thread: 1}}}})
		if got := Classify(p, 1)[0]; got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.construct, got, tt.want)
		}
	}
}

// A construct in a task is not inside the time of the same construct around the task. A parallel
// region is the exception, because it lasts until its tasks are done.
func TestFlatAcrossTasks(t *testing.T) {
	p := profileOf(t, 100, two, []event.Construct{event.Parallel, event.Task, event.TaskExec}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{{Exec: span(50, 1)}}},
		{Parent: 1, Region: 1, Stats: []stats{{Exec: span(2, 1)}}},
		{Parent: 2, Region: 2, Stats: []stats{{Exec: span(20, 1)}}},
		{Parent: 3, Region: 1, Stats: []stats{{Exec: span(3, 1)}}},
		{Parent: 3, Region: 0, Stats: []stats{{Exec: span(10, 1)}}},
	})
	flat := Flat(p)
	for r, want := range []int64{50, 5, 20} {
		if got := flat[r].Sum.Exec.T; got != want {
			t.Errorf("%s: %d, want %d", p.Regions[r].Construct, got, want)
		}
	}
}

// nested is an outer team of two threads. Its thread 1 starts an inner team. There is a lock in
// each team, and one outside.
func nested(t *testing.T) *profile.Profile {
	return profileOf(t, 20, two, []event.Construct{event.Parallel, event.ParallelLoop, event.Lock}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{
			{Thread: 0, Exec: span(12, 1), Enter: span(1, 1), Body: span(10, 1), Exit: span(1, 1), Child: 3},
			{Thread: 1, Exec: span(12, 1), Enter: span(1, 1), Body: span(7, 1), Barrier: span(3, 1), Exit: span(1, 1), Child: 6}}},
		{Parent: 1, Region: 1, Stats: []stats{
			{Thread: 0, Exec: span(6, 1), Enter: span(1, 1), Body: span(5, 1)},
			{Thread: 1, Exec: span(6, 1), Enter: span(1, 1), Body: span(1, 1), Barrier: span(4, 1), Child: 1}}},
		{Parent: 1, Region: 2, Stats: []stats{{Thread: 0, Exec: span(3, 1), Enter: span(2, 1), Body: span(1, 1)}}},
		{Parent: 2, Region: 2, Stats: []stats{{Thread: 1, Exec: span(1, 1), Exit: span(1, 1)}}},
		{Parent: 0, Region: 2, Stats: []stats{{Thread: 0, Exec: span(4, 1), Enter: span(3, 1), Exit: span(1, 1)}}},
	})
}

func TestOverheadsGoToTheInnermostTeam(t *testing.T) {
	p := nested(t)
	want := []RegionOverhead{
		{Region: 0, Wall: 12, Total: 24, Classes: Classes{Synch: 2, Imbal: 3, Mgmt: 4}},
		{Region: 1, Wall: 6, Total: 12, Classes: Classes{Imbal: 4, Mgmt: 3}},
	}
	got := Overheads(p)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("overheads (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Classes{Synch: 3, Mgmt: 1}, Outside(p)); d != "" {
		t.Errorf("outside (-want +got):\n%s", d)
	}
	got[0].Classes = Classes{Synch: 1}
	SortByOverhead(got)
	if got[0].Region != 1 {
		t.Error("SortByOverhead does not put the greatest overhead first")
	}
	SortByWall(got)
	if got[0].Region != 0 {
		t.Error("SortByWall does not put the longest first")
	}
}

func TestCoverageCountsOutermostRegions(t *testing.T) {
	if got, want := ParallelCoverage(nested(t)), (Coverage{Regions: 2, Wall: 12, Of: 20}); got != want || got.Share() != 0.6 {
		t.Errorf("got %+v, share %v; want %+v and 0.6", got, got.Share(), want)
	}
	// Two initial threads, each with half its time in a region.
	p := profileOf(t, 20, [][2]int{{0, 0}, {0, 1}, {1, 0}}, []event.Construct{event.Parallel}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{{Thread: 0, Exec: span(10, 1)}, {Thread: 1, Exec: span(10, 1)}, {Thread: 2, Exec: span(10, 1)}}}})
	if got, want := ParallelCoverage(p), (Coverage{Regions: 1, Wall: 20, Of: 40}); got != want || got.Share() != 0.5 {
		t.Errorf("got %+v, share %v; want %+v and 0.5", got, got.Share(), want)
	}
	if got := (Coverage{}).Share(); got != 0 {
		t.Errorf("share of nothing is %v", got)
	}
}

func TestCosts(t *testing.T) {
	want := []Cost{
		{Region: 2, Inclusive: 8, Exclusive: 8, Overhead: Classes{Synch: 5, Mgmt: 2}},
		{Region: 0, Inclusive: 24, Exclusive: 15, Overhead: Classes{Imbal: 3, Mgmt: 4}},
		{Region: 1, Inclusive: 12, Exclusive: 11, Overhead: Classes{Imbal: 4, Mgmt: 2}},
	}
	// Regions 0 and 2 have overhead 7 each; the longer exclusive time comes first.
	want[0], want[1] = want[1], want[0]
	if d := cmp.Diff(want, Costs(nested(t))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestSerialTimes(t *testing.T) {
	if d := cmp.Diff([]Serial{{0, 4}}, SerialTimes(nested(t))); d != "" { // 20 - 12 - 4
		t.Errorf("(-want +got):\n%s", d)
	}
	p := profileOf(t, 20, [][2]int{{0, 0}, {2, 0}, {2, 1}}, []event.Construct{event.Parallel}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{{Thread: 0, Exec: span(21, 1)}, {Thread: 1, Exec: span(5, 1)}, {Thread: 2, Exec: span(5, 1)}}}})
	if d := cmp.Diff([]Serial{{0, 0}, {2, 15}}, SerialTimes(p)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Serial{{0, 7}}, SerialTimes(profileOf(t, 7, nil, nil, nil))); d != "" {
		t.Errorf("without threads (-want +got):\n%s", d)
	}
	if !HasNestedTeams(nested(t)) || HasNestedTeams(p) {
		t.Error("HasNestedTeams is wrong")
	}
}
