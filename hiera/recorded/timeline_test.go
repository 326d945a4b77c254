package recorded_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/attribution/streamtest"
	"ompp-attach/event"
	"ompp-attach/hiera"
	"ompp-attach/hiera/recorded"
	"ompp-attach/hiera/xmltrace"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// Of every recorded stream, the XML of the timeline has at each call site the executions and the
// time of the profile.
func TestTimelines(t *testing.T) {
	names, err := filepath.Glob("../../testdata/streams/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range names {
		p, f := timelineOf(t, name)
		sameFigures(t, name, p, f)
	}
}

// Bytes and communication of MPI operations are the profile's, too.
func TestMPITimeline(t *testing.T) {
	s := &stream.Stream{PID: 1}
	for i, c := range []struct {
		op   string
		args mpi.Args
	}{
		{"MPI_Init", mpi.Args{}},
		{"MPI_Bcast", mpi.Args{Send: 100, Size: 4, Comm: 5}},
		{"MPI_Bcast", mpi.Args{Send: 100, Size: 1, Comm: 6}},
		{"MPI_Allreduce", mpi.Args{Send: 8, Recv: 8, Size: 4, Comm: 5}},
		{"MPI_Send", mpi.Args{Send: 30, Size: 4, Peer: 1, Comm: 5}},
		{"MPI_Finalize", mpi.Args{}},
	} {
		op, ok := mpi.ParseOp(c.op)
		if !ok {
			t.Fatal(c.op)
		}
		from := uint64(1000 + 100*i)
		s.Events = append(s.Events, event.Event{Time: from + 70, PID: 1, TID: 1, Construct: event.MPI, Edge: event.Released, Site: uint64(500 + i),
			MPI: &event.MPICall{Op: op, Start: from, Args: c.args}})
		s.Places = append(s.Places, stream.Placed{Key: attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.MPI}, Site: uint64(500 + i), Fn: uint64(op)},
			Region: profile.Region{Construct: event.MPI, Name: c.op, Location: profile.Location{File: "a.c", Begin: i + 1}}})
	}
	s.End = 2000
	p, b := record(t, s)
	tally := sameFigures(t, "calls of MPI", p, read(t, b))
	if tally.Communication != 4*70 || tally.StartEnds != 2 || len(tally.Places) != 6 {
		t.Errorf("%d ns of communication at %d call sites, without %d; want 280 at 6, without 2", tally.Communication, len(tally.Places), tally.StartEnds)
	}
}

// sameFigures writes a timeline as XML, reads that,
// and compares the figures with those of the profile.
func sameFigures(t *testing.T, name string, p *profile.Profile, f *timeline.File) *hiera.Tally {
	t.Helper()
	var b bytes.Buffer
	if err := recorded.WriteTimeline(&b, f, 2, intact(t)); err != nil {
		t.Fatal(err)
	}
	got, gaps, err := xmltrace.Load(bytes.NewReader(b.Bytes()), nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want := recorded.Tally(p, 2)
	if len(gaps) > 0 || got.Rank != 2 {
		t.Errorf("%s: %d gaps, rank %d", name, len(gaps), got.Rank)
	}
	// By time, a task lies in what its thread was waiting in, and by path where it was created.
	if got.Operations() != want.Operations() {
		t.Errorf("%s: operations by level %v, want %v", name, got.Levels, want.Levels)
	}
	compared := 0
	for at, w := range want.Places {
		g := got.Places[at]
		if g == nil {
			g = &hiera.Figures{}
		}
		if g.Count != w.Count || g.Time != w.Time || g.Sized == w.Sized && g.Bytes != w.Bytes {
			t.Errorf("%s: %+v: %d executions, %d ns, %d bytes; want %d, %d, %d", name, at, g.Count, g.Time, g.Bytes, w.Count, w.Time, w.Bytes)
		}
		compared++
	}
	if got.Communication != want.Communication {
		t.Errorf("%s: %d ns of communication, want %d", name, got.Communication, want.Communication)
	}
	if compared == 0 {
		t.Errorf("%s: nothing was compared", name)
	}
	return got
}

// A gap of a level that was let go has the level's name.
func TestGapOfALevel(t *testing.T) {
	names, err := filepath.Glob("../../testdata/streams/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	_, f := timelineOf(t, names[0])
	f.Dictionary.Meta.Observations = []profile.Observation{{Name: "level blas", Of: event.LevelGroup(1).Constructs()}}
	f.Gaps = []timeline.Gap{{From: 1, To: 2, Why: timeline.ByBudget, What: "LEVELS 1"}}
	var b bytes.Buffer
	if err := recorded.WriteTimeline(&b, f, 2, intact(t)); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, ": level blas") || strings.Contains(got, "LEVELS 1") {
		t.Error("the gap does not name the level")
	}
}

// The XML of a recording that was cut off ends with a gap that says so.
func TestTornTimeline(t *testing.T) {
	names, err := filepath.Glob("../../testdata/streams/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	_, b := recordingOf(t, names[0])
	for whole, n := range map[bool]int{true: len(b), false: len(b) - 30} {
		var xml bytes.Buffer
		if err := recorded.WriteTimeline(&xml, read(t, b[:n]), 2, intact(t)); err != nil {
			t.Fatal(err)
		}
		got, gaps, err := xmltrace.Load(&xml, nil)
		if err != nil || got.Operations() == 0 {
			t.Fatal(err, got)
		}
		if torn := len(gaps) == 1 && strings.Contains(gaps[0].Reason, "cut off"); torn == whole {
			t.Errorf("whole: %v, gaps %+v", whole, gaps)
		}
	}
}

// intact fails the test if a timeline is damaged.
func intact(t *testing.T) func(*timeline.File, *timeline.DamageError) {
	return func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) }
}

// Damaged parts are gaps in the XML; all else is there.
func TestDamagedTimeline(t *testing.T) {
	names, err := filepath.Glob("../../testdata/streams/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range names {
		_, b := recordingOf(t, name)
		whole := read(t, b)
		for at := 100; at < len(b); at += 1 + len(b)/20 {
			bad := bytes.Clone(b)
			bad[at] ^= 0xff
			f := read(t, bad)
			if f.Damaged() == 0 { // a name, or the file's end
				continue
			}
			var xml bytes.Buffer
			if err := recorded.WriteTimeline(&xml, f, 2, intact(t)); err != nil {
				t.Fatal(err)
			}
			got, gaps, err := xmltrace.Load(bytes.NewReader(xml.Bytes()), nil)
			n, _ := f.Spans()
			before, _ := whole.Spans()
			if err != nil || len(gaps) != f.Damaged() || n >= before || n > 0 && got.Operations() == 0 {
				t.Errorf("%s, byte %d: %v, %d gaps, %d operations of %d spans, %d without the damage", name, at, err, len(gaps), got.Operations(), n, before)
			}
			compared++
		}
	}
	if compared == 0 {
		t.Error("nothing was damaged")
	}
}

func timelineOf(t *testing.T, name string) (*profile.Profile, *timeline.File) {
	t.Helper()
	p, b := recordingOf(t, name)
	return p, read(t, b)
}

func read(t *testing.T, b []byte) *timeline.File {
	t.Helper()
	f, err := timeline.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func recordingOf(t *testing.T, name string) (*profile.Profile, []byte) {
	t.Helper()
	return record(t, streamtest.Read(t, name))
}

func record(t *testing.T, s *stream.Stream) (*profile.Profile, []byte) {
	t.Helper()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 1 << 30}, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	p := attribution.ReplayTo(s, rec)
	var b bytes.Buffer
	if err := rec.Save(&b); err != nil {
		t.Fatal(err)
	}
	return p, b.Bytes()
}
