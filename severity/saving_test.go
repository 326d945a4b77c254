package severity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// inRegion is a thread's time in a parallel region: start, body, final barrier,
// and regions inside (sec).
func inRegion(thread int, executions uint64, start, body, barrier, child int64) profile.ThreadStats {
	span := func(t int64) profile.Sum { return profile.Sum{T: t * 1e9, C: executions} }
	return profile.ThreadStats{Thread: thread, Exec: span(start + body + barrier), Enter: span(start), Body: span(body), Barrier: span(barrier),
		Child: child * 1e9}
}

func savingOf(t *testing.T, p *profile.Profile, property string, path int) int64 {
	t.Helper()
	c := Of(p, Options{})
	for _, f := range c.Findings() {
		if c.Properties[f.Property].ID == property && f.Path == path {
			return f.Saving.Time
		}
	}
	t.Fatalf("no finding %s at %d", property, path)
	return 0
}

// TestRemoval: what the removal of a time saves is known from how the threads spent each execution.
// The bound is never less, and equal to it where the record has enough to tell.
func TestRemoval(t *testing.T) {
	parallel := profile.Region{Construct: event.Parallel}
	for name, test := range map[string]struct {
		regions  []profile.Region
		nodes    []profile.Node
		property string
		path     int
		saved    int64 // sec
		bound    int64 // sec
	}{
		// Both threads start 2 s late at the same time.
		"at the same time": {[]profile.Region{parallel}, []profile.Node{{Parent: 0, Region: 0, Stats: []profile.ThreadStats{
			inRegion(0, 1, 2, 6, 0, 0), inRegion(1, 1, 2, 6, 0, 0)}}}, "omp_fork", 1, 2, 2},
		// In the first execution thread 0 starts 1 s late, in the second thread 1; the other waits
		// for it for 1 s. Both executions become 1 s shorter, though no thread starts late for
		// longer than 1 s in all.
		"alternately": {[]profile.Region{parallel}, []profile.Node{{Parent: 0, Region: 0, Stats: []profile.ThreadStats{
			inRegion(0, 2, 1, 6, 1, 0), inRegion(1, 2, 1, 6, 1, 0)}}}, "omp_fork", 1, 2, 2},
		// Thread 1 alone starts late for 4 s, and thread 0 works 3 s, thread 1 1 s.
		"one thread": {[]profile.Region{parallel}, []profile.Node{{Parent: 0, Region: 0, Stats: []profile.ThreadStats{
			inRegion(0, 1, 0, 3, 2, 0), inRegion(1, 1, 4, 1, 0, 0)}}}, "omp_fork", 1, 2, 3},
		// Both threads fork a team of two at the same time, which starts 1 s late and works 3 s.
		// The two inner primary threads share row 0, the others row 1.
		"nested teams": {[]profile.Region{parallel, parallel}, []profile.Node{
			{Parent: 0, Region: 0, Stats: []profile.ThreadStats{inRegion(0, 1, 0, 4, 0, 4), inRegion(1, 1, 0, 4, 0, 4)}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{inRegion(0, 2, 2, 6, 0, 0), inRegion(1, 2, 2, 6, 0, 0)}}}, "omp_fork", 2, 1, 4},
		// Thread 1 alone forks an inner team, which starts 3 s late and works 1 s. Thread 0 waits.
		"a nested team": {[]profile.Region{parallel, parallel}, []profile.Node{
			{Parent: 0, Region: 0, Stats: []profile.ThreadStats{inRegion(0, 1, 0, 0, 4, 0), inRegion(1, 1, 0, 4, 0, 4)}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{inRegion(0, 1, 3, 1, 0, 0), inRegion(1, 1, 3, 1, 0, 0)}}}, "omp_fork", 2, 3, 6},
		// The region's wall time is not known: it was under way.
		"under way": {[]profile.Region{{Construct: event.Unknown}}, []profile.Node{{Parent: 0, Region: 0, Stats: []profile.ThreadStats{
			inRegion(0, 1, 0, 1, 0, 0), inRegion(1, 1, 4, 1, 0, 0)}}}, "omp_fork", 1, 4, 4},
	} {
		p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 20e9}}, Threads: []profile.Thread{{Num: 0}, {Num: 1}},
			Regions: test.regions, Nodes: append([]profile.Node{{Parent: -1, Region: -1}}, test.nodes...)}
		got := savingOf(t, p, test.property, test.path)
		if got < test.saved*1e9 {
			t.Errorf("%s: %d s are saved, the bound is %d ns", name, test.saved, got)
		}
		if got != test.bound*1e9 {
			t.Errorf("%s: the bound is %d ns, want %d s", name, got, test.bound)
		}
	}
}

// TestSavingOfSeveralInitialThreads: they may run one after the other, so what they save adds up.
func TestSavingOfSeveralInitialThreads(t *testing.T) {
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 20e9}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}, {Root: 1, Num: 0}, {Root: 1, Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0, Stats: []profile.ThreadStats{
			inRegion(0, 1, 2, 6, 0, 0), inRegion(1, 1, 2, 6, 0, 0), inRegion(2, 1, 3, 1, 0, 0), inRegion(3, 1, 3, 1, 0, 0)}}}}
	if got := savingOf(t, p, "omp_fork", 1); got != 5e9 {
		t.Errorf("the bound is %d ns, want 2 s and 3 s", got)
	}
	p.Meta.Duration = 4e9
	if got := savingOf(t, p, "omp_fork", 1); got != 4e9 {
		t.Errorf("the bound is %d ns, want the run's 4 s", got)
	}
}

// TestSavingOfTasks: both threads are in the barrier when thread 0 executes its last task for 4 s.
// Two tasks of 2 s would save 2 s, so completing the barrier counts.
func TestSavingOfTasks(t *testing.T) {
	a, b := inRegion(0, 1, 0, 1, 4, 0), inRegion(1, 1, 0, 1, 4, 0)
	a.Task, a.Tasks, a.Child = 4e9, 1, 4e9
	a.Waits = &profile.Waits{Wait: profile.Sum{C: 1}, Done: profile.Sum{C: 1}}
	b.Waits = &profile.Waits{Wait: profile.Sum{C: 1}, Done: profile.Sum{T: 4e9, C: 1}}
	work := profile.Sum{T: 4e9, C: 1}
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 5e9}}, Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.TaskExec}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0, Stats: []profile.ThreadStats{a, b}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{{Thread: 0, Exec: work, Body: work}}}}}
	if got := savingOf(t, p, "omp_barrier_region", 1); got != 2e9 {
		t.Errorf("the bound is %d ns, want 2 s", got)
	}
	p.Nodes[1].Stats[0].Tasks = 0
	if got := savingOf(t, p, "omp_barrier_region", 1); got != 0 {
		t.Errorf("the bound is %d ns, want 0: without tasks nothing is left to balance", got)
	}
}

// TestLosses: a property's places together save the sum of what each saves, and no more than the
// run's time. Here they are 2 s and 5.5 s: of 9 s, half of 7 s of work is left.
func TestLosses(t *testing.T) {
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 20e9}}, Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.Parallel}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0, Stats: []profile.ThreadStats{inRegion(0, 1, 2, 6, 0, 0), inRegion(1, 1, 2, 6, 0, 0)}},
			{Parent: 0, Region: 1, Stats: []profile.ThreadStats{inRegion(0, 1, 3, 1, 5, 0), inRegion(1, 1, 3, 6, 0, 0)}}}}
	for wall, want := range map[int64]int64{20e9: 75e8, 4e9: 4e9} {
		p.Meta.Duration = wall
		c := Of(p, Options{})
		found := c.Findings()
		losses, places := c.Losses(found), 0
		for _, l := range losses {
			sum := int64(0)
			for _, f := range l.Findings {
				sum += f.Time
			}
			if sum != l.Time {
				t.Errorf("%s: %d ns, its findings have %d", c.Properties[l.Property].ID, l.Time, sum)
			}
			places += len(l.Findings)
		}
		if places != len(found) {
			t.Errorf("%d findings of %d", places, len(found))
		}
		if l := losses[0]; c.Properties[l.Property].ID != "omp_fork" || l.Time != 10e9 || len(l.Findings) != 2 || l.Saving.Time != want {
			t.Errorf("of %d ns: %+v", wall, l)
		}
	}
}

// TestLossWithinRegion: a region and the loop inside lack a core for 8 of their 10 s on both
// threads, and compute for 2 s. Without either they still take 2 s. So both together save 8 s, not
// 16 s.
func TestLossWithinRegion(t *testing.T) {
	lost := func(s profile.ThreadStats) profile.ThreadStats {
		s.NoCore = &profile.Cost{Exec: 4e9, Body: 4e9}
		return s
	}
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 20e9}}, Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.Loop}},
		Nodes: []profile.Node{{Parent: -1, Region: -1},
			{Parent: 0, Region: 0, Stats: []profile.ThreadStats{lost(inRegion(0, 1, 0, 10, 0, 5)), lost(inRegion(1, 1, 0, 10, 0, 5))}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{lost(inRegion(0, 1, 0, 5, 0, 0)), lost(inRegion(1, 1, 0, 5, 0, 0))}}}}
	c := Of(p, Options{})
	for _, l := range c.Losses(c.Findings()) {
		if c.Properties[l.Property].ID == NoCore && (len(l.Findings) != 2 || l.Time != 16e9 || l.Saving.Time != 8e9) {
			t.Errorf("%d places, %d ns, saves %d", len(l.Findings), l.Time, l.Saving.Time)
		}
	}
}

// TestSavingsWithoutUnknownThreads: the row of threads that were not told apart is no thread more,
// among which time could be divided.
func TestSavingsWithoutUnknownThreads(t *testing.T) {
	savings := func(p *profile.Profile) (out []Saving) {
		for _, f := range Of(p, Options{}).Findings() {
			out = append(out, f.Saving)
		}
		return out
	}
	p := teamOf3()
	want := savings(p)
	p.Threads = append(p.Threads, profile.Thread{Num: profile.UnknownNum})
	if d := cmp.Diff(want, savings(p)); d != "" || len(want) == 0 {
		t.Errorf("savings (-want +got):\n%s", d)
	}
}
