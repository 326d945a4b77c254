package attribution

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/samples"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// sampledRegion is a region of two threads with a critical; samples' sites are
// the lines at which fakeFiles puts them.
const sampledRegion = `
5 1 sampled none site=5
6 9 sampled none site=6
10 1 fork parallel fn=100 key=7 size=2
10 1 sampled none site=9
11 1 begin parallel key=7 num=0 size=2
12 2 begin parallel key=7 num=1 size=2
13 1 sampled none site=20
14 1 sampled none site=20
15 1 enter critical site=30 fn=1
16 1 sampled none site=31
17 1 acquired critical site=30 fn=1
18 1 sampled none site=32
19 1 release critical fn=1
20 1 released critical fn=1
20 2 sampled none site=20
21 1 end parallel key=7
25 1 sampled none site=41
28 2 sampled none site=20
30 2 end parallel key=7
31 1 sampled none site=42
31 2 sampled none site=43
32 1 join parallel key=7
40 1 sampled none site=50
40 2 sampled none site=51
`

// samplesOf feeds events and writes the samples as text; those at some sites are
// probes'.
func samplesOf(events []event.Event, probed ...uint64) []string {
	e := New(1, fakeFiles{})
	for _, ev := range withSamples(events, probed) {
		e.Feed(&ev)
	}
	return sampleTexts(e.Finish(100))
}

func withSamples(events []event.Event, probed []uint64) []event.Event {
	events = slices.Clone(events)
	for i := range events {
		if ev := &events[i]; ev.Edge == event.Sampled {
			ev.Sample = &event.Sample{Stack: []uint64{ev.Site, 801}, Weight: 10, Probe: slices.Contains(probed, ev.Site)}
			ev.Site = 0
		}
	}
	return events
}

func sampleTexts(p *profile.Profile) (out []string) {
	for _, s := range p.Samples {
		region, thread := "program", "none"
		if r := p.Nodes[s.Node].Region; r >= 0 {
			region = p.Regions[r].Construct.String()
		}
		if s.Thread >= 0 {
			thread = fmt.Sprint(p.Threads[s.Thread].Num)
		}
		var lines []int
		for _, f := range s.Stack {
			lines = append(lines, p.Frames[f].Line)
		}
		out = append(out, fmt.Sprintf("%s %s %q %v %d %d", region, thread, s.Phase, lines, s.Count, s.Weight))
	}
	slices.Sort(out)
	return out
}

// Samples go to the innermost region and its phase, whatever order the threads
// are read in; what comes after a region's join lies outside.
func TestSamples(t *testing.T) {
	events := parse(t, sampledRegion)
	want := strings.Split(strings.TrimSpace(`
CRITICAL 0 "body" [32 800] 1 10
CRITICAL 0 "enter" [31 800] 1 10
PARALLEL 0 "barrier" [41 800] 1 10
PARALLEL 0 "body" [20 800] 2 20
PARALLEL 0 "enter" [9 800] 1 10
PARALLEL 0 "exit" [42 800] 1 10
PARALLEL 1 "body" [20 800] 2 20
PARALLEL 1 "exit" [43 800] 1 10
program 0 "" [5 800] 1 10
program 0 "" [50 800] 1 10
program 1 "idle" [51 800] 1 10
program none "" [6 800] 1 10`), "\n")
	if got := samplesOf(events); !slices.Equal(got, want) {
		t.Errorf("samples:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	byThread := func(first uint32) []event.Event {
		out := slices.Clone(events)
		slices.SortStableFunc(out, func(a, b event.Event) int {
			switch {
			case a.TID == b.TID:
				return 0
			case a.TID == first:
				return -1
			case b.TID == first:
				return 1
			}
			return int(a.TID) - int(b.TID)
		})
		return out
	}
	for _, first := range []uint32{1, 2} {
		if got := samplesOf(byThread(first)); !slices.Equal(got, want) {
			t.Errorf("thread %d's events first:\n%s\nwant:\n%s", first, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Samples in probes are no phase's: those of the region that the thread is in, also
// in its barrier, but not behind its join. So they are when a recorded run is
// replayed.
func TestSamplesInProbes(t *testing.T) {
	probed := []uint64{5, 9, 31, 32, 41, 43, 51}
	events := parse(t, sampledRegion+"33 2 sampled none site=43\n")
	want := strings.Split(strings.TrimSpace(`
CRITICAL 0 "probe" [31 800] 1 10
CRITICAL 0 "probe" [32 800] 1 10
PARALLEL 0 "body" [20 800] 2 20
PARALLEL 0 "exit" [42 800] 1 10
PARALLEL 0 "probe" [41 800] 1 10
PARALLEL 0 "probe" [9 800] 1 10
PARALLEL 1 "body" [20 800] 2 20
PARALLEL 1 "probe" [43 800] 1 10
program 0 "" [50 800] 1 10
program 0 "probe" [5 800] 1 10
program 1 "probe" [43 800] 1 10
program 1 "probe" [51 800] 1 10
program none "" [6 800] 1 10`), "\n")
	if got := samplesOf(events, probed...); !slices.Equal(got, want) {
		t.Errorf("samples:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var file bytes.Buffer
	if err := stream.Encode(&file, &stream.Stream{PID: 1, End: 100, Events: withSamples(events, probed)}); err != nil {
		t.Fatal(err)
	}
	s, err := stream.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	e := New(1, fakeFiles{})
	for i := range s.Events {
		e.Feed(&s.Events[i])
	}
	if got := sampleTexts(e.Finish(100)); !slices.Equal(got, want) {
		t.Errorf("replayed:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Without samples the profile is the same: they change nothing of the regions.
func TestSamplesChangeNothing(t *testing.T) {
	all := parse(t, sampledRegion)
	none := slices.DeleteFunc(slices.Clone(all), func(ev event.Event) bool { return ev.Edge == event.Sampled })
	figures := func(events []event.Event) *profile.Profile {
		e := New(1, fakeFiles{})
		for i := range events {
			ev := events[i]
			if ev.Edge == event.Sampled {
				ev.Sample = &event.Sample{Stack: []uint64{1}, Weight: 1}
			}
			e.Feed(&ev)
		}
		p := e.Finish(100)
		p.Samples, p.Frames = nil, nil
		return p
	}
	if d := cmp.Diff(figures(none), figures(all)); d != "" {
		t.Errorf("-without samples +with\n%s", d)
	}
}

// Many different stacks are folded to where the threads were, and said to be.
func TestManyStacks(t *testing.T) {
	e := New(1, fakeFiles{})
	const frames, more = 512, 10
	const maxStacks = samples.MaxStackBytes / (8 * frames)
	stack := make([]uint64, frames)
	for i := range uint64(maxStacks + more) {
		stack[0], stack[1] = 7, i+1
		e.Feed(&event.Event{TID: 1, Time: i, Edge: event.Sampled, Sample: &event.Sample{Stack: stack, Weight: 1}})
	}
	p := e.Finish(maxStacks + more)
	var count, leaf uint64
	for _, s := range p.Samples {
		count += s.Count
		if len(s.Stack) == 1 {
			leaf += s.Count
		}
	}
	if count != maxStacks+more || leaf != more || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], fmt.Sprintf("of %d samples", more)) {
		t.Errorf("%d samples, %d of them without callers, warnings %q", count, leaf, p.Warnings)
	}
}

// A thread that libgomp ends by a call that looks like a region's is nobody's
// region, also if it was sampled on its way.
func TestSampleOfAnEndingThread(t *testing.T) {
	for _, sampled := range []bool{false, true} {
		e := New(1, fakeFiles{})
		e.Feed(&event.Event{Time: 1000, TID: 2, Construct: event.Parallel, Edge: event.Begin, Runtime: event.Gomp, Key: 5, Num: 1})
		if sampled {
			e.Feed(&event.Event{Time: 2000, TID: 2, Edge: event.Sampled, Sample: &event.Sample{Stack: []uint64{7}, Weight: 1}})
		}
		e.Advance(1000 + 2*stragglerWait)
		if p := e.Finish(3000 + 2*stragglerWait); p.Meta.Partial != 0 || len(p.Regions) != 0 {
			t.Errorf("sampled %t: %d partial, regions %v", sampled, p.Meta.Partial, p.Regions)
		}
	}
}
