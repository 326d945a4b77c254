package attribution

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/build"
	"ompp-attach/attribution/sharing"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// A region that was under way at attach is named by what lies in it, if that is
// one region's code. fakeFiles has that of two, from 5000 and from 6000 on.
func TestUnderWay(t *testing.T) {
	critical := func(tid uint32, site uint64) []event.Event {
		return []event.Event{{Time: 1100, TID: tid, Construct: event.Critical, Edge: event.Enter, Site: site, Flags: event.FreeAtOnce},
			{Time: 1200, TID: tid, Construct: event.Critical, Edge: event.Release}}
	}
	sample := func(tid uint32, stack ...uint64) []event.Event {
		return []event.Event{{Time: 1300, TID: tid, Edge: event.Sampled, Sample: &event.Sample{Stack: stack, Weight: 10}}}
	}
	cut := func(tid uint32, stack ...uint64) []event.Event {
		s := sample(tid, stack...)
		s[0].Sample.Cut = true
		return s
	}
	nested := func(site uint64, worker []event.Event) []event.Event { // a team of threads 1 and 3
		return slices.Concat(parse(t, fmt.Sprintf(`
			1210 1 fork parallel fn=300 key=7 size=2 site=%d
			1220 1 begin parallel key=7
			1230 3 begin parallel key=7 num=1`, site)), worker, parse(t, `
			1400 1 end parallel
			1410 3 end parallel
			1420 1 join parallel`))
	}
	for name, tc := range map[string]struct {
		events [][]event.Event
		line   int  // 0: not known
		few    bool // a note says that not all threads' places tell
	}{
		"a construct":               {[][]event.Event{critical(1, 5010)}, 50, false},
		"two in one region":         {[][]event.Event{critical(1, 5010), critical(2, 5020)}, 50, false},
		"two in two regions":        {[][]event.Event{critical(1, 5010), critical(2, 6020)}, 0, false},
		"in a function":             {[][]event.Event{critical(1, 4000)}, 0, false},
		"in a function, by samples": {[][]event.Event{critical(1, 4000), sample(1, 4010, 5011, 3000)}, 50, false},
		// The call is at its end.
		"a sample returns to another's code": {[][]event.Event{critical(1, 4000), sample(1, 4010, 6000, 3000)}, 50, false},
		"a region in the region":             {[][]event.Event{critical(1, 4000), sample(1, 6010, 5011, 3000)}, 50, false},
		"a cut sample":                       {[][]event.Event{critical(1, 4000), cut(1, 6010)}, 0, false},
		"a whole one like a cut one":         {[][]event.Event{critical(1, 4000), cut(1, 5010), sample(1, 5010)}, 50, false},
		"a worker of a region in the region": {[][]event.Event{critical(1, 5010), nested(5020, sample(3, 6010))}, 50, false},
		"nothing but such a worker":          {[][]event.Event{critical(1, 4000), nested(4010, sample(3, 6010))}, 0, false},
		"one of two":                         {[][]event.Event{critical(1, 5010), critical(2, 4000)}, 50, true},
		"each of two by the same samples":    {[][]event.Event{critical(1, 4000), sample(1, 5010), sample(2, 5010)}, 50, false},
		"samples of two":                     {[][]event.Event{critical(1, 4000), sample(1, 5010), sample(2, 6010)}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			rec := stream.NewRecorder(1, fakeFiles{})
			e := New(1, rec)
			e.Existing([]int{1, 2}, 1000)
			rec.Stream.Existing, rec.Stream.Began, rec.Stream.End = []int{1, 2}, 1000, 2000
			for _, s := range tc.events {
				for i := range s {
					s[i].PID, s[i].Runtime = 1, event.Gomp
					e.Feed(&s[i])
					rec.Stream.Events = append(rec.Stream.Events, s[i])
				}
			}
			for _, p := range []*profile.Profile{e.Finish(2000), Replay(rec.Stream)} {
				found := false
				for i := range p.Regions {
					if r := &p.Regions[i]; r.Construct == event.Unknown {
						found = true
						if r.Location.Begin != tc.line {
							t.Errorf("line %d, want %d", r.Location.Begin, tc.line)
						}
						if slices.Contains(r.Notes, build.NoteWhitherFew) != tc.few || slices.Contains(r.Notes, build.NoteWhither) != (tc.line > 0 && !tc.few) {
							t.Errorf("notes %q", r.Notes)
						}
					}
				}
				if !found {
					t.Error("no region is under way")
				}
			}
		})
	}
}

// attached is the profile of a process with some threads that is attached to at
// 1000 and detached from at end.
func attached(t *testing.T, threads []int, end uint64, events string) *profile.Profile {
	t.Helper()
	e := New(1, fakeFiles{})
	e.Existing(threads, 1000)
	for _, ev := range parse(t, events) {
		e.Feed(&ev)
	}
	return e.Finish(end)
}

// In a region that was under way all ask for the master's part. Only the primary thread has it, and
// says so by its end, from its first end on. That is the process's first thread, or the primary
// thread of another thread's team (here 3).
func TestMasterUnderWay(t *testing.T) {
	var events strings.Builder
	for n := range 3 {
		fmt.Fprintf(&events, `
			%d 1 enter master site=400 rt=kmpc free
			%[1]d 2 enter master site=400 rt=kmpc free
			%[1]d 3 enter master site=400 rt=kmpc free
			%d 1 release master rt=kmpc free noret
			%[2]d 3 release master rt=kmpc free noret
			%[2]d 2 wait barrier site=420 rt=kmpc
			%d 2 waited barrier rt=kmpc`, 1010+100*n, 1030+100*n, 1040+100*n)
	}
	p := attached(t, []int{1, 2, 3}, 2000, events.String())
	want := lines(`UNDER WAY@0 0:-1 exec 2000/2 enter 0 body 2000/0 bar 0 exit 0 child 70
	               UNDER WAY@0 0:0 exec 1000/1 enter 0 body 1000/0 bar 0 exit 0 child 60
	               UNDER WAY@0/MASTER@400 0:-1 exec 40/2 enter 0 body 40/2 bar 0 exit 0 child 0
	               UNDER WAY@0/MASTER@400 0:0 exec 60/3 enter 0 body 60/3 bar 0 exit 0 child 0
	               UNDER WAY@0/BARRIER@420 0:-1 exec 30/3 enter 0 body 0/0 bar 0 exit 0 child 0`)
	if d := cmp.Diff(want, table(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if p.Meta.Unmatched != 0 {
		t.Errorf("unmatched %d", p.Meta.Unmatched)
	}
}

// A first thread that only waits for others, which start teams, has no seat and
// starts none.
func TestFirstThreadWithoutPart(t *testing.T) {
	p := attached(t, []int{1, 2}, 2000, `
		1005 1 enter masked rt=kmpc v=1
		1010 2 end parallel
		1020 2 join parallel
		1100 2 fork parallel fn=300 key=7 size=1 site=90
		1110 2 begin parallel key=7
		1120 2 end parallel
		1130 2 join parallel`)
	for _, seat := range p.Threads {
		if seat.Root == 0 && seat.Num == 0 {
			t.Errorf("the first thread has a row: %+v", p.Threads)
		}
	}
}

// How many sections a thread has of a team whose size is not known is not told.
func TestSectionsUnderWay(t *testing.T) {
	p := attached(t, []int{1, 2}, 2000, `
		1010 2 open sections rt=kmpc site=400 v=4
		1020 2 close loop rt=kmpc`)
	for _, r := range p.Regions {
		if r.Construct == event.Sections && slices.Contains(r.Notes, sharing.NoteUnknownSections) {
			return
		}
	}
	t.Error("no note tells so")
}

// A worker of an inner region that was under way may end with that region. It was in the region
// until then, and nothing else is known of it.
func TestInnerRegionEnds(t *testing.T) {
	p := attached(t, []int{1, 2}, 2000, `
		1010 2 waited barrier
		1030 2 end parallel num=2
		1100 1 fork parallel fn=300 key=7 size=1 site=90
		1110 1 begin parallel key=7
		1120 1 end parallel
		1130 1 join parallel`)
	want := lines(`UNDER WAY@0 0:-1 exec 30/1 enter 0 body 30/0 bar 0 exit 0 child 0
	               PARALLEL@300 0:0 exec 30/1 enter 10 body 10/1 bar 0 exit 10 child 0`)
	if d := cmp.Diff(want, table(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if p.Meta.Unmatched != 1 || p.Meta.Partial != 1 {
		t.Errorf("unmatched %d, partial %d", p.Meta.Unmatched, p.Meta.Partial)
	}
}
