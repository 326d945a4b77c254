package firefox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

var counting = &timeline.Counting{Counters: []profile.Counter{{Name: "cycles"}, {Name: "page-faults"}}, Column: []int{-1, 0}}

// Markers have the counters that counted.
func TestCounters(t *testing.T) {
	s := timeline.Span{TID: 5, Node: 1, From: 100, To: 200, Exec: profile.Sum{T: 100, C: 1}}
	s.Counts = &profile.Counts{All: []int64{12}, Partial: true}
	var b bytes.Buffer
	if err := Write(&b, []*timeline.File{recorded(t, timeline.Plan{Cap: 4 << 20}, 7, s)}, nil); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, b.Bytes()); len(got) != 2 || !strings.HasSuffix(got[1], "a.c (1) note its counters are known for a part only counter2 12") {
		t.Errorf("%q", got)
	}
}

// recorded returns a timeline of a process with a region, a call, a lock and a task.
func recorded(t *testing.T, plan timeline.Plan, pid int, spans ...timeline.Span) *timeline.File {
	t.Helper()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: plan, PID: pid, Wait: true, Counting: counting})
	if err != nil {
		t.Fatal(err)
	}
	for i := range spans {
		rec.Span(&spans[i])
	}
	at := func(c event.Construct, name string, line int) profile.Region {
		return profile.Region{Construct: c, Name: name, Location: profile.Location{File: "a.c", Begin: line}}
	}
	rec.End(&timeline.Dictionary{
		Meta:    profile.Meta{Target: profile.Target{Program: "a.out"}, Machine: profile.Machine{Host: "node7"}},
		Regions: []profile.Region{at(event.Parallel, "", 1), at(event.MPI, "MPI_Send", 2), at(event.Lock, "", 3), at(event.Task, "", 4)},
		Nodes:   []timeline.Node{{Parent: -1, Region: -1}, {Region: 0}, {Region: 1}, {Region: 2}, {Region: 3}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		NodeOf:  []int32{0, 1, 2, 3, 4}, SeatOf: []int32{0, 1},
		Stops: event.Stops{{From: 3_000_000, To: 4_000_000}},
	})
	var b bytes.Buffer
	if err := rec.Save(&b); err != nil {
		t.Fatal(err)
	}
	f, err := timeline.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// gecko is what is read of a profile: src/types/gecko-profile.ts of
// github.com/firefox-devtools/profiler.
type gecko struct {
	Meta struct {
		Version      int
		Categories   []struct{ Name string }
		MarkerSchema []struct {
			Name string
			Data []struct{ Key string }
		}
		ProfilingEndTime float64
	}
	Threads []struct {
		Name, ProcessName string
		PID, TID          int
		StringTable       []string
		Markers           struct {
			Schema map[string]int
			Data   [][]any
		}
	}
}

// lines returns the markers of a profile in words,
// and checks the numbers by which they name others.
func lines(t *testing.T, text []byte) (out []string) {
	t.Helper()
	var g gecko
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	types := map[string][]string{}
	for _, s := range g.Meta.MarkerSchema {
		types[s.Name] = []string{"type"}
		for _, f := range s.Data {
			types[s.Name] = append(types[s.Name], f.Key)
		}
	}
	for _, th := range g.Threads {
		out = append(out, fmt.Sprintf("%d.%d %s of %s", th.PID, th.TID, th.Name, th.ProcessName))
		at := th.Markers.Schema
		for _, m := range th.Markers.Data {
			of := func(column string) any { return m[at[column]] }
			line := fmt.Sprintf("  %v", of("startTime"))
			if end := of("endTime"); end != nil {
				line += fmt.Sprintf(" to %v", end)
			}
			if (of("endTime") == nil) != (of("phase") == 0.0) {
				t.Errorf("%v is an instant or an interval, not both", m)
			}
			line += fmt.Sprintf(" %s: %s", g.Meta.Categories[int(of("category").(float64))].Name, th.StringTable[int(of("name").(float64))])
			data := of("data").(map[string]any)
			known := types[data["type"].(string)]
			for _, key := range known[min(len(known), 1):] {
				if v, ok := data[key]; ok {
					line += fmt.Sprintf(" %s %v", key, v)
				}
			}
			for key := range data {
				if !slices.Contains(known, key) {
					t.Errorf("the schema of %v has no %s", data["type"], key)
				}
			}
			out = append(out, line)
		}
	}
	return out
}

func TestWrite(t *testing.T) {
	ran := func(tid uint32, seat, node int32, from, to uint64) timeline.Span {
		return timeline.Span{TID: tid, Thread: seat, Node: node, From: from, To: to, Exec: profile.Sum{T: int64(to - from), C: 1}}
	}
	region := ran(5, 0, 1, 1_000_000, 2_500_001)
	region.Parts = [timeline.NumParts]profile.Sum{{T: 100_000}, {T: 1_000_000}, {T: 400_000}, {T: 1}}
	send := ran(5, 0, 2, 1_200_000, 1_300_000)
	send.Kind, send.Call.Out = timeline.Call, 80
	locks := ran(6, 1, 3, 2_000_000, 3_500_000) // the process was stopped for 1 ms in between
	locks.Kind, locks.Exec = timeline.Fold, profile.Sum{T: 500_000, C: 7}
	made := timeline.Span{TID: 6, Thread: 1, Node: 4, Kind: timeline.Created, From: 1_500_000, To: 1_500_000}
	open := ran(6, 1, 3, 3_600_000, 3_700_000)
	open.Flags, open.Lock = timeline.Open, 9
	plan := timeline.Plan{Cap: 1 << 26}
	a, b := recorded(t, plan, 77, made, send, region, locks), recorded(t, timeline.Plan{Cap: 1 << 26, To: 3_650_000}, 78, open, ran(6, 1, 1, 3_800_000, 3_900_000))
	b.Dictionary.Meta.Observations = []profile.Observation{{Name: "level blas", Of: event.LevelGroup(1).Constructs()}}
	b.Torn = true
	b.Gaps = append(b.Gaps, timeline.Gap{From: 3_900_000, To: 4_000_000, Why: timeline.ByBudget, What: "LEVELS 1"})
	var text bytes.Buffer
	if err := Write(&text, []*timeline.File{a, b}, func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1.5 OpenMP thread 0 of a.out (process 77) on node7",
		"  0 to 1.500001 OpenMP: PARALLEL a.c (1) enter 0.1 body 1 barrier 0.4 exit 1e-06",
		"  0.2 to 0.3 MPI: MPI_Send a.c (2) out 80",
		"1.6 OpenMP thread 1 of a.out (process 77) on node7",
		"  0.5 OpenMP: creates TASK a.c (4)",
		"  1 to 3.5 OpenMP: LOCK a.c (3) (sum of executions) n 7 sum 0.5",
		"2.6 OpenMP thread 1 of a.out (process 78) on node7 (its timeline was cut off)",
		"  3.6 to 3.7 OpenMP: LOCK a.c (3) note it was under way when measurement ended",
		"2.0 not recorded of a.out (process 78) on node7 (its timeline was cut off)",
		"  3.8 to 3.9 Not recorded: outside of the time that was to be recorded n 1",
		"  3.9 to 4 Not recorded: " + timeline.ByBudget.Sentence() + " note level blas",
	}
	if d := cmp.Diff(want, lines(t, text.Bytes())); d != "" {
		t.Error(d)
	}
}

// broken is a disk without room.
type broken struct{}

// Write implements io.Writer.
func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left") }

func TestDiskFull(t *testing.T) {
	f := recorded(t, timeline.Plan{Cap: 1 << 26}, 7, timeline.Span{TID: 5, Node: 1, From: 1, To: 2})
	if err := Write(broken{}, []*timeline.File{f}, nil); err == nil || !strings.Contains(err.Error(), "write the profile: no space left") {
		t.Error(err)
	}
}
