package perfetto

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	construct "ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// decode reads a trace by the published definitions of the format. It lists what is on the trace's
// tracks: a line for each moment, indented by the depth. It fails the test if slices do not nest,
// if times of a track go back, or if names are used before they are told.
func decode(t *testing.T, trace []byte) []string {
	t.Helper()
	return readTrace(t, trace).lines
}

// readTrace is decode, with the values of counters.
func readTrace(t *testing.T, trace []byte) *reading {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{"testdata"}}}
	files, err := compiler.Compile(context.Background(), "trace.proto")
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(files[0].Messages().ByName("Trace"))
	if err := proto.Unmarshal(trace, m); err != nil {
		t.Fatal(err)
	}
	r := reading{t: t, tracks: map[uint64]string{}, names: map[uint64]string{}, depth: map[uint64]int{}, last: map[uint64]uint64{},
		flows: map[string]map[uint64]uint64{"flow_ids": {}, "terminating_flow_ids": {}}}
	packets := field(m, "packet").List()
	for i := range packets.Len() {
		r.packet(packets.Get(i).Message())
	}
	for track, n := range r.depth {
		if n != 0 {
			t.Errorf("%d slices of the track %q have no end", n, r.tracks[track])
		}
	}
	r.pairs()
	return &r
}

// pairs fails the test if a flow lacks one of its ends, or ends before it begins.
func (r *reading) pairs() {
	begins, ends := r.flows["flow_ids"], r.flows["terminating_flow_ids"]
	for id, at := range begins {
		if to, ok := ends[id]; !ok || to < at {
			r.t.Errorf("the flow %#x begins at %d and ends at %d (known: %v)", id, at, to, ok)
		}
	}
	if len(ends) != len(begins) {
		r.t.Errorf("%d flows begin, %d end", len(begins), len(ends))
	}
}

func field(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

// reading is what is known of a trace so far.
type reading struct {
	t             *testing.T
	tracks, names map[uint64]string
	depth         map[uint64]int
	last          map[uint64]uint64
	flows         map[string]map[uint64]uint64 // time of an end by the flow's number
	lines         []string
	values        []string // of counters
}

func (r *reading) packet(p protoreflect.Message) {
	if len(p.GetUnknown()) > 0 {
		r.t.Errorf("a packet has fields that its definition lacks: %x", p.GetUnknown())
	}
	names := field(field(p, "interned_data").Message(), "event_names").List()
	for i := range names.Len() {
		n := names.Get(i).Message()
		r.names[field(n, "iid").Uint()] = field(n, "name").String()
	}
	if d := field(p, "track_descriptor").Message(); d.IsValid() {
		name := field(d, "name").String() + field(field(d, "process").Message(), "process_name").String() +
			field(field(d, "thread").Message(), "thread_name").String()
		r.tracks[field(d, "uuid").Uint()] = name
	}
	e := field(p, "track_event").Message()
	if !e.IsValid() {
		return
	}
	at, track := field(p, "timestamp").Uint(), field(e, "track_uuid").Uint()
	if r.tracks[track] == "" {
		r.t.Errorf("an event is on track %d, which is not described", track)
	}
	if at < r.last[track] {
		r.t.Errorf("on the track %q, %d comes behind %d", r.tracks[track], at, r.last[track])
	}
	r.last[track] = at
	if field(e, "type").Enum() == counted {
		r.values = append(r.values, fmt.Sprintf("%s: %d %v", r.tracks[track], at, field(e, "double_counter_value").Float()))
		return
	}
	name := r.names[field(e, "name_iid").Uint()]
	kind := field(e, "type").Enum()
	if kind == sliceEnd {
		r.depth[track]--
		name = "end"
	} else if name == "" {
		r.t.Error("an event's name was not told before")
	}
	line := fmt.Sprintf("%s: %d %s%s", r.tracks[track], at, strings.Repeat("  ", r.depth[track]), name)
	if kind == instant {
		line += " (moment)"
	}
	for _, of := range []protoreflect.Name{"flow_ids", "terminating_flow_ids"} {
		if ids := field(e, of).List(); ids.Len() > 0 {
			id := ids.Get(0).Uint()
			line += fmt.Sprintf(" %s %#x", of, id)
			if _, twice := r.flows[string(of)][id]; twice {
				r.t.Errorf("%s %#x comes twice", of, id)
			}
			r.flows[string(of)][id] = at
		}
	}
	r.lines = append(r.lines, line)
	if kind == sliceBegin {
		r.depth[track]++
	}
	if r.depth[track] < 0 {
		r.t.Errorf("more ends than begins on the track %q", r.tracks[track])
	}
}

// recorded returns a timeline that holds some spans of a program with a region, a critical section
// in it, tasks, and two locks.
func recorded(t *testing.T, spans ...timeline.Span) *timeline.File {
	t.Helper()
	return read(t, save(t, spans...))
}

func save(t *testing.T, spans ...timeline.Span) []byte {
	t.Helper()
	var of *timeline.Counting
	if slices.ContainsFunc(spans, func(s timeline.Span) bool { return s.Counts != nil }) {
		of = counters
	}
	rec := recording(t, of)
	for i := range spans {
		rec.Span(&spans[i])
	}
	ended(rec)
	var b bytes.Buffer
	if err := rec.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// counters are what spans of tests have, if they have any: the first one cannot be counted.
var counters = &timeline.Counting{Counters: []profile.Counter{{Name: "cycles"}, {Name: "clock", Unit: "ns"}, {Name: "faults"}}, Column: []int{-1, 1, 0}}

func recording(t *testing.T, of *timeline.Counting) *timeline.Recorder {
	t.Helper()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 1 << 28}, PID: 77, Wait: true, Counting: of})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// ended ends a recording of a program with a region, a task, and a lock.
func ended(rec *timeline.Recorder) {
	at := func(c construct.Construct, line int) profile.Region {
		return profile.Region{Construct: c, Location: profile.Location{File: "a.c", Begin: line}}
	}
	rec.End(&timeline.Dictionary{
		Meta:    profile.Meta{Target: profile.Target{Program: "a.out"}, Machine: profile.Machine{Host: "node7"}},
		Regions: []profile.Region{at(construct.Parallel, 1), at(construct.Task, 2), at(construct.TaskExec, 2), at(construct.Lock, 3)},
		Nodes:   []timeline.Node{{Parent: -1, Region: -1}, {Region: 0}, {Parent: 1, Region: 1}, {Parent: 1, Region: 2}, {Parent: 1, Region: 3}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		NodeOf:  []int32{0, 1, 2, 3, 4}, SeatOf: []int32{0, 1},
		Stops: construct.Stops{{From: 1000, To: 1500}},
	})
}

func read(t *testing.T, b []byte) *timeline.File {
	t.Helper()
	f, err := timeline.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ran is an execution of a node, from one time to another.
func ran(node int32, from, to uint64) timeline.Span {
	return timeline.Span{TID: 5, Node: node, From: from, To: to, Exec: profile.Sum{T: int64(to - from), C: 1}}
}

func TestWrite(t *testing.T) {
	region := ran(1, 100, 200)
	region.Team = 1
	for i, ns := range []int64{10, 60, 25, 5} {
		region.Parts[i].T = ns
	}
	created := timeline.Span{TID: 5, Node: 2, Kind: timeline.Created, From: 120, To: 120, Task: 9}
	never := created // executed
	never.From, never.To, never.Task = 125, 125, 10
	task := ran(3, 172, 180)
	task.Task = 9
	lock, overlaps := ran(4, 130, 150), ran(4, 140, 160)
	late := ran(1, 990, 1010)
	f := recorded(t, created, never, lock, overlaps, task, region, late)
	var b bytes.Buffer
	if _, err := Write(&b, []*timeline.File{f}, func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	const thread, aside = "OpenMP thread 0: ", "locks that overlap: "
	want := []string{
		thread + "100 PARALLEL a.c (1)",
		thread + "100   startup",
		thread + "110   end",
		thread + "120   creates TASK a.c (2) (moment) flow_ids 0x1000000000009",
		thread + "125   creates TASK a.c (2) (moment)",
		thread + "130   LOCK a.c (3)",
		aside + "140 LOCK a.c (3)",
		thread + "150   end",
		thread + "170   implicit barrier",
		thread + "172     TASKEXEC a.c (2) terminating_flow_ids 0x1000000000009",
		thread + "180     end",
		thread + "195   end",
		thread + "195   shutdown",
		thread + "200   end",
		thread + "200 end",
		// The process was stopped at 1000, for 500 ns.
		thread + "990 PARALLEL a.c (1)",
		thread + "1510 end",
		aside + "160 end",
	}
	got := decode(t, b.Bytes())
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Processes of several machines may have one number; the viewer must not take them for one.
func TestUnique(t *testing.T) {
	taken := map[uint64]bool{}
	var got []uint64
	for range 3 {
		got = append(got, unique(taken, 77))
	}
	if !slices.Equal(got, []uint64{77, 10_000_077, 20_000_077}) {
		t.Errorf("numbers %v", got)
	}
}

// A gap of a level that was let go has the level's name.
func TestGapOfALevel(t *testing.T) {
	f := recorded(t, ran(1, 100, 200))
	f.Dictionary.Meta.Observations = []profile.Observation{{Name: "level blas", Of: construct.LevelGroup(1).Constructs()}}
	f.Gaps = []timeline.Gap{{From: 120, To: 150, Why: timeline.ByBudget, What: "LEVELS 1"}}
	var b bytes.Buffer
	if _, err := Write(&b, []*timeline.File{f}, func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "level blas") || strings.Contains(got, "LEVELS 1") {
		t.Error("the gap does not name the level")
	}
}

// Damaged parts are gaps in the trace; all else is there.
func TestDamaged(t *testing.T) {
	var spans []timeline.Span
	for i := range uint64(60_000) { // several chunks
		spans = append(spans, ran(1, 2000+i*100, 2000+i*100+i%90))
	}
	b := save(t, spans...)
	b[len(b)/2] ^= 0xff
	f := read(t, b)
	var trace bytes.Buffer
	if _, err := Write(&trace, []*timeline.File{f}, func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	gaps, slices := 0, 0
	for _, line := range decode(t, trace.Bytes()) {
		switch {
		case strings.Contains(line, timeline.ByDamage.Sentence()):
			gaps++
		case strings.Contains(line, "PARALLEL"):
			slices++
		}
	}
	if n, _ := f.Spans(); gaps != 1 || slices != int(n) || slices < 40_000 || slices == len(spans) {
		t.Errorf("%d gaps, %d slices of %d", gaps, slices, len(spans))
	}
}
