package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

func TestProperties(t *testing.T) {
	// Two threads for 50 ns: 100 thread-ns, so that severities are percents.
	wait := []stats{{Thread: 0, Exec: span(20, 1), Body: span(20, 1)},
		{Thread: 1, Exec: span(20, 1), Body: span(15, 1), Barrier: span(5, 1)}}
	enter := []stats{{Thread: 0, Exec: span(20, 9), Enter: span(5, 9), Body: span(15, 9)}}
	plain := []stats{{Thread: 0, Exec: span(5, 1)}}
	sections := func(first, second uint64) []stats {
		return []stats{{Thread: 0, Exec: span(20, 2), Body: span(20, first)},
			{Thread: 1, Exec: span(20, 2), Body: span(15, second), Barrier: span(5, 1)}}
	}
	short := []stats{{Thread: 0, Exec: span(10, 1), Enter: span(3, 1), Body: span(4, 1), Exit: span(3, 1)}}
	for _, tt := range []struct {
		construct event.Construct
		stats     []stats
		want      string // empty: none holds
	}{
		{event.Barrier, plain, "WaitAtBarrier"},
		{event.Parallel, wait, "ImbalanceInParallelRegion"},
		{event.Unknown, wait, "ImbalanceInParallelRegion"},
		{event.Teams, wait, "ImbalanceInParallelRegion"},
		{event.Loop, wait, "ImbalanceInParallelLoop"},
		{event.ParallelLoop, wait, "ImbalanceInParallelLoop"},
		{event.Workshare, wait, "ImbalanceInParallelWorkshare"},
		{event.ParallelWorkshare, wait, "ImbalanceInParallelWorkshare"},
		{event.Sections, sections(2, 2), "ImbalanceInParallelSections"},
		{event.ParallelSections, sections(2, 2), "ImbalanceInParallelSections"},
		{event.Sections, sections(3, 1), "ImbalanceInParallelSections"}, // as many as came
		{event.Sections, sections(3, 2), "ImbalanceDueToUnevenSectionDistribution"},
		{event.Sections, sections(2, 0), "ImbalanceDueToNotEnoughSections"},
		{event.Critical, enter, "CriticalSectionContention"},
		{event.Ordered, enter, "CriticalSectionContention"},
		{event.Lock, enter, "LockContention"},
		{event.NestLock, enter, "LockContention"},
		{event.Single, wait, "UnparallelizedInSingleRegion"},
		{event.Master, plain, "UnparallelizedInMasterRegion"},
		{event.Masked, plain, "UnparallelizedInMasterRegion"},
		{event.ParallelLoop, short, "InsufficientWorkInParallelLoop"},
		{event.Loop, plain, ""}, // no time lost
		{event.Critical, plain, ""},
		{event.UserRegion, plain, ""},
	} {
		p := profileOf(t, 50, two, []event.Construct{tt.construct}, []profile.Node{{Parent: 0, Region: 0, Stats: tt.stats}})
		var want []Property
		if tt.want != "" {
			want = []Property{{Name: tt.want, Region: 0, Severity: 0.05, Core: 1}}
		}
		if tt.want == InsufficientWorkInParallelLoop {
			want[0].Severity = 0.06 // 3 + 3, more than the body's 4
		}
		if d := cmp.Diff(want, Properties(p)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.construct, d)
		}
	}
}

func TestFrequentAtomic(t *testing.T) {
	// Two threads for a second: 2000 executions are 1000 per thread and second.
	for _, tt := range []struct {
		count uint64
		want  int
	}{{2000, 0}, {2001, 1}} {
		p := profileOf(t, 1e9, two, []event.Construct{event.Atomic}, []profile.Node{
			{Parent: 0, Region: 0, Stats: []stats{{Thread: 1, Exec: span(2e7, tt.count)}}}})
		got := Properties(p)
		if len(got) != tt.want || tt.want == 1 && got[0] != (Property{FrequentAtomic, 0, 0.01, 1}) {
			t.Errorf("%d executions: %+v", tt.count, got)
		}
	}
}

func TestPropertiesAreSorted(t *testing.T) {
	p := profileOf(t, 50, two, []event.Construct{event.Master, event.Barrier, event.Master}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{{Exec: span(1, 1)}}},
		{Parent: 0, Region: 1, Stats: []stats{{Exec: span(30, 1)}}},
		{Parent: 0, Region: 2, Stats: []stats{{Exec: span(2, 1)}}},
	})
	want := []Property{{WaitAtBarrier, 1, 0.3, 1}, {UnparallelizedInMasterRegion, 2, 0.02, 1}, {UnparallelizedInMasterRegion, 0, 0.01, 1}}
	if d := cmp.Diff(want, Properties(p)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
