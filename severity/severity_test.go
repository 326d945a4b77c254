package severity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// teamOf3 is a process of three threads, with 4 s serial. In a loop of 6 s, thread i works 6, 3 and
// 0 s; all execute it twice. In the loop is a critical for which thread 1 waits 1 s.
func teamOf3() *profile.Profile {
	const s = 1e9
	span := func(t float64, c uint64) profile.Sum { return profile.Sum{T: int64(t * s), C: c} }
	return &profile.Profile{
		Version: profile.SchemaVersion,
		Meta:    profile.Meta{Target: profile.Target{Program: "three", PID: 7}, Machine: profile.Machine{Host: "n1"}, Life: profile.Life{Duration: 10 * s}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}, {Num: 2}},
		Regions: []profile.Region{{Construct: event.ParallelLoop, Location: profile.Location{File: "a.c", Begin: 3, End: 9}},
			{Construct: event.Critical, Location: profile.Location{File: "a.c", Begin: 5, End: 6}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0, Stats: []profile.ThreadStats{
			{Thread: 0, Exec: span(6, 2), Body: span(6, 2)},
			{Thread: 1, Exec: span(6, 2), Body: span(3, 2), Barrier: span(3, 2), Child: 2 * s},
			{Thread: 2, Exec: span(6, 2), Barrier: span(6, 2)}}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{{Thread: 1, Exec: span(2, 4), Enter: span(1, 4), Body: span(1, 4)}}}},
	}
}

// text lists the values that are not 0, in seconds.
func text(c *Cube) (out []string) {
	for _, v := range c.Values {
		p := &c.Properties[v.Property]
		if p.Unit == Seconds {
			out = append(out, fmt.Sprintf("%s %d %d: %g", p.ID, v.Path, v.Thread, float64(v.V)/1e9))
		} else {
			out = append(out, fmt.Sprintf("%s %d %d: %d", p.ID, v.Path, v.Thread, v.V))
		}
	}
	return out
}

func TestOf(t *testing.T) {
	c := Of(teamOf3(), Options{})
	want := []string{
		"computation 0 0: 4", "computation 1 0: 6", "computation 1 1: 1", "computation 2 1: 1",
		"idle_threads 0 1: 4", "idle_threads 0 2: 4",
		"omp_barrier_region 1 1: 3", "omp_barrier_region 1 2: 6",
		"omp_critical 2 1: 1",
		"visits 1 0: 2", "visits 1 1: 2", "visits 1 2: 2", "visits 2 1: 4",
		"critical_path 0 0: 4", "critical_path_rest 1 0: 6", // without records of who came last
	}
	// PARALLEL LOOP is a loop for ompP.
	for i := range want {
		want[i] = strings.Replace(want[i], "omp_barrier_region", "omp_barrier_loop", 1)
	}
	if d := cmp.Diff(want, text(c)); d != "" {
		t.Errorf("values (-want +got):\n%s", d)
	}
	for id, want := range map[string]int64{Time: 30e9, Execution: 22e9, "openmp": 10e9, "omp_barrier": 9e9, IdleThreads: 8e9, NotKnown: 0} {
		if got := c.Total(id); got != want {
			t.Errorf("%s is %d, want %d", id, got, want)
		}
	}
}

// TestSaving: perfect balance of 6, 3 and 0 s of work is 3 s each, so 3 s are saved. Serial code of
// 4 s takes a third on three threads.
func TestSaving(t *testing.T) {
	type saving struct {
		name  string
		path  int
		time  int64
		saves int64
	}
	tests := map[string]struct {
		change func(*profile.Profile)
		want   []saving
	}{
		"all threads in all instances": {func(*profile.Profile) {}, []saving{
			{"ImbalanceInParallelLoop", 1, 9e9, 3e9}, {"IdleThreads", 0, 8e9, 2666666666}, {"CriticalSectionContention", 2, 1e9, 1e9}}},
		// One instance may have had two threads only.
		"some threads in some instances": {func(p *profile.Profile) { p.Nodes[1].Stats[2].Exec.C = 1 }, []saving{
			{"ImbalanceInParallelLoop", 1, 9e9, 9e9 / 2}, {"IdleThreads", 0, 8e9, 2666666666}, {"CriticalSectionContention", 2, 1e9, 1e9}}},
		// Nobody shares MPI_Init, which takes 1 s of the serial 4 s.
		"a call that begins MPI": {func(p *profile.Profile) {
			begin := profile.Sum{T: 1e9, C: 1}
			p.Regions = append(p.Regions, profile.Region{Construct: event.MPI, Name: "MPI_Init"})
			p.Nodes = append(p.Nodes, profile.Node{Parent: 0, Region: len(p.Regions) - 1, Stats: []profile.ThreadStats{{Exec: begin, Body: begin, MPI: &profile.MPIStats{T: 1e9, Calls: 1}}}})
			p.Nodes[0].Stats = []profile.ThreadStats{{MPI: &profile.MPIStats{T: 1e9, Calls: 1}}}
		}, []saving{{"ImbalanceInParallelLoop", 1, 9e9, 3e9}, {"IdleThreads", 0, 6e9, 2e9}, {"Idle threads at start and end of MPI", 3, 2e9, 1e9},
			{"CriticalSectionContention", 2, 1e9, 1e9}, {"MPI start and end", 3, 1e9, 1e9}}},
		// All threads together may wait longer than the region lasted.
		"no more than the region's wall time": {func(p *profile.Profile) {
			s := &p.Nodes[1].Stats
			for i := range *s {
				(*s)[i].Enter, (*s)[i].Body, (*s)[i].Barrier, (*s)[i].Child = (*s)[i].Exec, profile.Sum{}, profile.Sum{}, 0
			}
			p.Nodes = p.Nodes[:2]
		}, []saving{{"Team start", 1, 18e9, 6e9}, {"IdleThreads", 0, 8e9, 2666666666}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := teamOf3()
			test.change(p)
			c := Of(p, Options{})
			var got []saving
			for _, f := range c.Findings() {
				got = append(got, saving{c.Properties[f.Property].Title(), f.Path, f.Time, f.Saving.Time})
			}
			if d := cmp.Diff(test.want, got, cmp.AllowUnexported(saving{})); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
		})
	}
}

// If the thread that ends a team had no core, longer regions are not advised.
func TestEndOfTeam(t *testing.T) {
	const s = 1e9
	for away, want := range map[int64]string{0: "Make parallel regions longer", 2 * s: "Longer regions do not mend this"} {
		p := teamOf3()
		for k := range p.Nodes[1].Stats {
			x := &p.Nodes[1].Stats[k]
			x.Exec.T, x.Exit = 8*s, profile.Sum{T: 2 * s, C: 2}
		}
		p.Nodes[1].Stats[0].NoCore = &profile.Cost{Exec: away, Exit: away}
		c, found := Of(p, Options{}), 0
		for _, x := range c.Findings() {
			if c.Properties[x.Property].ID == TeamEnd {
				found++
				if got := c.Helps(&x); !strings.HasPrefix(got, want) {
					t.Errorf("%d ns without a core: %q", away, got)
				}
			}
		}
		if found != 1 {
			t.Errorf("%d ns without a core: %d findings on the end", away, found)
		}
	}
}

// TestSilentAndUneven: a job is silent if all of its processes are. The reason of waits is the one
// that most waits of all processes have.
func TestSilentAndUneven(t *testing.T) {
	regions := Of(teamOf3(), Options{}).Regions
	for _, in := range []struct {
		silent, starved [2]bool
		waits           [2]int64
		want            analysis.Uneven
	}{
		{[2]bool{true, true}, [2]bool{true, true}, [2]int64{1, 1}, analysis.Starved},
		{[2]bool{true, false}, [2]bool{true, false}, [2]int64{1, 1}, 0},
		{[2]bool{false, true}, [2]bool{true, false}, [2]int64{3, 2}, analysis.Starved},
		{[2]bool{true, true}, [2]bool{true, false}, [2]int64{2, 3}, analysis.Late},
	} {
		s := NewSum(1000)
		for i := range 2 {
			c, waits, why := Of(teamOf3(), Options{}), analysis.UnevenWaits{}, analysis.Late
			if in.starved[i] {
				why = analysis.Starved
			}
			waits[why] = in.waits[i]
			c.Silent, c.Uneven = in.silent[i], map[int]analysis.UnevenWaits{0: waits}
			c.Ends = c.Uneven
			s.Add(c, []int{0, 1})
		}
		c := s.Finish([]profile.Region{regions[1], regions[0]}, []int{1, 0})
		if c.Silent != (in.silent[0] && in.silent[1]) || c.Uneven[1].Why() != in.want || c.Uneven[0].Why() != 0 || c.Ends[1] != c.Uneven[1] {
			t.Errorf("processes %v: silent %t, uneven %v, ends %v", in, c.Silent, c.Uneven, c.Ends)
		}
	}
}

// TestSum: two processes that name their regions in another order become one tree of paths. Where
// values are too many, first the threads of a process, then processes are added up, and nothing is
// lost.
func TestSum(t *testing.T) {
	a, b := Of(teamOf3(), Options{}), Of(teamOf3(), Options{})
	b.Regions[0], b.Regions[1] = b.Regions[1], b.Regions[0]
	b.Paths[1].Region, b.Paths[2].Region = 1, 0
	for _, test := range []struct {
		bound, threads int
		level          Level
	}{{1000, 6, ByThread}, {20, 2, ByProcess}, {9, 1, Whole}} {
		s := NewSum(test.bound)
		s.Add(a, []int{0, 1})
		s.Add(b, []int{1, 0})
		// In the run's order, the critical comes first.
		c := s.Finish([]profile.Region{a.Regions[1], a.Regions[0]}, []int{1, 0})
		if c.Level != test.level || len(c.Threads) != test.threads || len(c.Processes) != 2 {
			t.Errorf("bound %d: level %d, %d rows, %d processes", test.bound, c.Level, len(c.Threads), len(c.Processes))
		}
		if d := cmp.Diff([]Path{{-1, -1}, {0, 1}, {1, 0}}, c.Paths); d != "" {
			t.Errorf("bound %d: paths (-want +got):\n%s", test.bound, d)
		}
		for _, p := range Catalogue() {
			if got, want := c.Total(p.ID), 2*a.Total(p.ID); got != want {
				t.Errorf("bound %d: %s is %d, want %d", test.bound, p.ID, got, want)
			}
		}
		if c.ThreadTime != 60e9 {
			t.Errorf("bound %d: %d ns in all", test.bound, c.ThreadTime)
		}
		if test.level != ByThread {
			continue
		}
		found := c.Findings()
		if f := found[0]; f.Time != 18e9 || len(f.Threads) != 4 || f.Saving != (Saving{true, 0, 3e9}) {
			t.Errorf("the worst finding is %+v", f)
		}
	}
}

// TestNotKnown: rows of inner teams hold several threads. What one row has too much, others lack,
// and nothing is unknown.
func TestNotKnown(t *testing.T) {
	p := teamOf3()
	p.Nodes[1].Stats = p.Nodes[1].Stats[:2]
	p.Nodes = p.Nodes[:2]
	p.Nodes[1].Stats[1].Child = 0
	c := Of(p, Options{})
	if got := c.Total(LimitedParallel); got != 6e9 {
		t.Errorf("thread 2 was in no team for 6 s; %d ns are limited parallelism", got)
	}
	p.Regions[0].Construct = event.Unknown // then it is not known where thread 2 was
	if c = Of(p, Options{}); c.Total(NotKnown) != 6e9 || c.Total(LimitedParallel) != 0 {
		t.Errorf("%d ns are not known, %d limited parallelism; want 6 s and 0", c.Total(NotKnown), c.Total(LimitedParallel))
	}
	inner := profile.Sum{T: 6e9, C: 1} // row 0 holds the thread of an inner team too
	p.Nodes = append(p.Nodes, profile.Node{Parent: 1, Region: 0, Stats: []profile.ThreadStats{{Exec: inner, Body: inner}}})
	if c = Of(p, Options{}); c.Total(NotKnown) != 0 {
		t.Errorf("%d ns are not known; other rows have them", c.Total(NotKnown))
	}
}

// TestProbes: the root has what probes took of each thread in all. Outside of the regions is what
// these have not got. One row has the costs of a thread of an inner team, too.
func TestProbes(t *testing.T) {
	p := teamOf3()
	root := &p.Nodes[0]
	for i, all := range []int64{90, 50, 55} {
		root.Stats = append(root.Stats, profile.ThreadStats{Thread: i, Cost: &profile.Cost{Exec: all, Wait: 10}})
	}
	p.Nodes[1].Stats[0].Cost = &profile.Cost{Exec: 60, Child: 20, Wait: 5}
	p.Nodes[1].Stats[1].Cost = &profile.Cost{Exec: 80, Child: 20}
	p.Nodes[2].Stats[0].Cost = &profile.Cost{Exec: 20}
	c := Of(p, Options{})
	q := c.Property(Probes)
	want := []Value{{q, 0, 0, 25, 0}, {q, 0, 2, 25, 0}, {q, 1, 0, 35, 0}, {q, 1, 1, 60, 0}, {q, 2, 1, 20, 0}}
	if d := cmp.Diff(want, c.Of(q)); d != "" {
		t.Errorf("what probes took (-want +got):\n%s", d)
	}
}

// TestWaits: thread 0 came last at both barriers. Of what threads 1 and 2 spent there, 2.5 and 5 s
// were waiting for it.
func TestWaits(t *testing.T) {
	p := teamOf3()
	stats := p.Nodes[1].Stats
	stats[0].Waits = &profile.Waits{Wait: profile.Sum{C: 2}, Last: profile.Sum{T: 7.5e9, C: 2}, Late: profile.Sum{T: 7.5e9, C: 2}, Delay: 7e9}
	stats[1].Waits = &profile.Waits{Wait: profile.Sum{T: 2.5e9, C: 2}, Done: profile.Sum{T: .5e9, C: 2}}
	stats[2].Waits = &profile.Waits{Wait: profile.Sum{T: 5e9, C: 2}, Done: profile.Sum{T: .5e9, C: 1}, Dropped: 1}
	c := Of(p, Options{})
	var got []string
	for _, line := range text(c) {
		if strings.Contains(line, "barrier") || strings.Contains(line, "late") || strings.Contains(line, "delay") || strings.Contains(line, "arrivals") || strings.Contains(line, "last") {
			got = append(got, line)
		}
	}
	want := []string{
		"omp_barrier_loop 1 2: 0.5", // its leaving is not known
		"omp_barrier_loop.wait 1 1: 2.5", "omp_barrier_loop.wait 1 2: 5",
		"omp_barrier_loop.completion 1 1: 0.5", "omp_barrier_loop.completion 1 2: 0.5",
		"omp_latecomer 1 0: 7.5", "omp_late_from 1 0: 7.5", "omp_delay 1 0: 7", "omp_times_last 1 0: 2",
		"omp_arrivals 1 0: 2", "omp_arrivals 1 1: 2", "omp_arrivals 1 2: 2", "omp_arrivals_dropped 1 2: 1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("values (-want +got):\n%s", d)
	}
	if got := c.Total("omp_barrier"); got != 9e9 {
		t.Errorf("the barriers' time is %d, want 9 s as without waits", got)
	}
	f := c.Findings()[0]
	if f.Time != 9e9 || f.Saving.Time != 2_666_666_666 || len(f.Parts) != 2 || f.Parts[0].Time != 7.5e9 || f.Parts[1].Time != 1e9 {
		t.Errorf("the finding is %+v", f)
	}
	if d := cmp.Diff([]Cause{{0, 1, 7.5e9, 2}}, c.LastAt(1)); d != "" {
		t.Errorf("came last (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Cause{{0, 1, 7.5e9, 0}}, c.CameFrom(2, 0)); d != "" {
		t.Errorf("came from (-want +got):\n%s", d)
	}
	if got := append(c.CameFrom(2, 1), c.CameFrom(0, 0)...); len(got) > 0 {
		t.Errorf("others came from %v", got)
	}
	if d := cmp.Diff([]Cause{{0, 1, 7e9, 0}}, c.Delays()); d != "" {
		t.Errorf("delays (-want +got):\n%s", d)
	}
	// Half of the barrier without a core: both parts are halved.
	stats[2].NoCore = &profile.Cost{Exec: 3e9, Barrier: 3e9}
	stats[2].Waits.Done = profile.Sum{T: 1e9, C: 2}
	c = Of(p, Options{})
	if w, d := c.Total("omp_barrier_loop.wait"), c.Total("omp_barrier_loop.completion"); w != 5e9 || d != 1e9 {
		t.Errorf("%d waiting and %d completing, want 5 s and 1 s", w, d)
	}
}

// TestLateTasks: thread 1 waited 2 s in the barrier for tasks that thread 0 created. The waits are
// a part of the barrier's time, and those at the creator no part of Time.
func TestLateTasks(t *testing.T) {
	p := teamOf3()
	before := Of(p, Options{}).Total(Time)
	p.Regions = append(p.Regions, profile.Region{Construct: event.Task})
	p.Nodes[1].Stats[1].Waits = &profile.Waits{Wait: profile.Sum{T: 3e9, C: 2}, NoTask: profile.Sum{T: 2e9, C: 5}}
	p.Nodes = append(p.Nodes, profile.Node{Parent: 1, Region: 2, Stats: []profile.ThreadStats{
		{Thread: 0, Exec: profile.Sum{C: 5}, Waits: &profile.Waits{LateTask: profile.Sum{T: 2e9, C: 5}}}}})
	c := Of(p, Options{})
	if no, late, all := c.Total(NoTask), c.Total(LateTask), c.Total(Time); no != 2e9 || late != no || all != before {
		t.Errorf("%d ns without a task, %d created late; Time is %d, was %d", no, late, all, before)
	}
	if d := cmp.Diff([]Cause{{0, 3, 2e9, 0}}, c.Creators(1)); d != "" {
		t.Errorf("creators (-want +got):\n%s", d)
	}
	if got := c.Creators(0); got != nil {
		t.Errorf("creators outside of the team: %v", got)
	}
	found := c.Findings()
	i := slices.IndexFunc(found, func(f Finding) bool { return c.Properties[f.Property].ID == NoTask })
	if i < 0 || found[i].Path != 1 || found[i].Time != 2e9 || found[i].Threads[0].Thread != 1 || found[i].Saving.Time != 2e9 {
		t.Errorf("the findings are %+v", found)
	}
}

// TestLocks: thread 1 waited 1 s for a critical section, 0.75 s of it while thread 0 held it.
func TestLocks(t *testing.T) {
	p := teamOf3()
	stats := &p.Nodes[2].Stats
	(*stats)[0].Waits = &profile.Waits{Contended: profile.Sum{T: .75e9, C: 2}, Handed: .2e9, Shared: 1, NoHolder: profile.Sum{T: .05e9, C: 7}}
	*stats = append(*stats, profile.ThreadStats{Thread: 0, Exec: profile.Sum{T: .5e9, C: 1}, Body: profile.Sum{T: .5e9, C: 1},
		Waits: &profile.Waits{Held: profile.Sum{T: .75e9, C: 1}}})
	p.Nodes[1].Stats[0].Child = .5e9
	c := Of(p, Options{})
	if got := c.Total("omp_critical"); got != 1e9 {
		t.Errorf("the critical section has %d ns, want 1 s as without waits", got)
	}
	for id, want := range map[string]int64{"omp_critical.contention": .75e9, "omp_critical.handover": .2e9, "omp_critical.no_holder": .05e9, NoHolder: 7, Held: .75e9} {
		if got := c.Total(id); got != want {
			t.Errorf("%s is %d, want %d", id, got, want)
		}
	}
	if d := cmp.Diff([]Cause{{0, 2, .75e9, 0}}, c.Holders(2)); d != "" {
		t.Errorf("holders (-want +got):\n%s", d)
	}
	if at, below := c.WithoutHolder(2), c.WithoutHolder(1); at != 7 || below != 0 {
		t.Errorf("%d executions without a known holder, want 7; %d in the loop itself", at, below)
	}
	if got := c.Holders(1); len(got) != 1 { // below the loop
		t.Errorf("holders in the loop: %v", got)
	}
	for _, f := range c.Findings() {
		if c.Properties[f.Property].ID != "omp_critical" {
			continue
		}
		if f.Estimated || len(f.Parts) != 3 || f.Parts[0].Mark != Derived || f.Parts[1].Mark != 0 {
			t.Errorf("only the contention is derived: %+v", f)
		}
	}
}

func TestCondition(t *testing.T) {
	o := Options{Conditions: []Condition{{"Long", "EXECT > 5", func(_ *profile.Profile, s *profile.ThreadStats) bool { return s.Exec.T > 5e9 }}}}
	c := Of(teamOf3(), o)
	if got := c.Total(ConditionID("Long")); got != 16e9 { // own times of 6, 4 and 6 s
		t.Errorf("the condition holds for %d ns", got)
	}
	if got := c.Total(Time); got != 30e9 {
		t.Errorf("the condition changed Time to %d", got)
	}
}

// TestCatalogue: the tree is sound, and what a reader needs is there.
func TestCatalogue(t *testing.T) {
	seen := map[string]Property{}
	for _, p := range Catalogue() {
		if _, twice := seen[p.ID]; twice {
			t.Errorf("%s is there twice", p.ID)
		}
		up, ok := seen[p.Parent]
		if p.Parent != "" && (!ok || up.Unit != p.Unit) {
			t.Errorf("%s does not follow its parent %q, or has another unit", p.ID, p.Parent)
		}
		seen[p.ID] = p
		if p.Name == "" || p.Unit == "" || p.Source == "" || p.Formula == "" || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("%s lacks a name, unit, source, formula or description", p.ID)
		}
		if p.Reported != (p.Helps != "") || p.Reported != (p.Diagnosis != "") || p.Reported != (p.Gain != NoGain) {
			t.Errorf("%s is a finding without what helps, how to find the cause, or what it saves; or the reverse", p.ID)
		}
	}
	for _, c := range event.AllConstructs() {
		id := synchronisation(c)
		if seen[id].ID == "" {
			t.Errorf("%s: no property %s", c, id)
		}
		form := c.Form().Overhead
		if named := form == event.WholeSynch || form == event.WaitSynch || form == event.GuardSynch || form == event.TasksSynch; named && id == "omp_synchronisation" {
			t.Errorf("%s has no property of its own", c)
		}
	}
}

func TestOperations(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Catalogue() {
		seen[p.ID] = true
	}
	for i := range mpi.Operations {
		if id := operationProperty(mpi.Operations[i].Name); !seen[id] || id == "mpi" {
			t.Errorf("%s: property %q", mpi.Operations[i].Name, id)
		}
	}
	for name, want := range map[string]string{
		"MPI_Send": "mpi_point_to_point", "MPI_Waitall": "mpi_point_to_point", "MPI_Isend_c": "mpi_point_to_point", "MPI_Iprobe": "mpi_point_to_point",
		"MPI_Startall": "mpi_point_to_point", "MPI_Allreduce": "mpi_collective", "MPI_Ibcast": "mpi_collective", "MPI_Neighbor_alltoallw": "mpi_collective",
		"MPI_Barrier": "mpi_barrier", "MPI_Ibarrier": "mpi_barrier", "MPI_Put": "mpi_rma", "MPI_Rget": "mpi_rma", "MPI_Compare_and_swap": "mpi_rma",
		"MPI_Win_fence": "mpi_rma_synchronisation", "MPI_Win_lock": "mpi_rma_synchronisation", "MPI_Win_flush_all": "mpi_rma_synchronisation",
		"MPI_Win_create": "mpi_windows", "MPI_Win_free": "mpi_windows", "MPI_Init_thread": "mpi_init_exit", "MPI_Finalize": "mpi_init_exit",
		"MPI_Comm_split": "mpi_communicators", "MPI_Cart_create": "mpi_communicators", "MPI_Group_incl": "mpi_communicators",
		"MPI_Comm_rank": "mpi_management", "MPI_Wtime": "mpi_management", "MPI_Type_commit": "mpi_management", "MPI_File_open": "mpi_io",
		"MPI_File_read_at": "mpi_io_individual", "MPI_File_iwrite_shared": "mpi_io_individual", "MPI_File_write_all_begin": "mpi_io_collective",
		"MPI_File_read_at_all_end": "mpi_io_collective", "MPI_File_write_ordered_c": "mpi_io_collective", "no such": "mpi",
	} {
		if got := operationProperty(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
