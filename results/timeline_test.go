package results

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/event"
	"ompp-attach/files"
	"ompp-attach/page"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/timeline"
)

// streamedTo records an empty timeline into a file of a directory.
func streamedTo(t *testing.T, o *Directory, pid int) *timeline.Recorder {
	t.Helper()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 4 << 20, Stream: true}, PID: pid,
		Open: func() (io.WriteCloser, error) { return o.StreamedTimeline(pid) }})
	if err != nil {
		t.Fatal(err)
	}
	rec.End(&timeline.Dictionary{Nodes: []timeline.Node{{Parent: -1, Region: -1}}, Regions: []profile.Region{}})
	if err := rec.Finish(); err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestStreamedTimelines: a process that executes another program has a file for each of them, in a
// directory whose older files are replaced.
func TestStreamedTimelines(t *testing.T) {
	dir := t.TempDir()
	for _, old := range []string{"profile.json.gz", "profile.pid77.timeline"} {
		if err := os.WriteFile(filepath.Join(dir, old), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o, err := Open(dir, "solver", 0, true)
	if err != nil {
		t.Fatal(err)
	}
	first, second := measuredOnce().Profiles[0], measuredOnce().Profiles[0]
	first.Meta.PID, second.Meta.PID = 77, 77
	res := &collect.Result{First: first, Profiles: []*profile.Profile{first, second}, Timelines: map[*profile.Profile]*timeline.Recorder{}}
	for _, p := range res.Profiles {
		res.Timelines[p] = streamedTo(t, o, 77)
	}
	if err := o.Write(res, &Wanted{Quiet: true}); err != nil {
		t.Fatal(err)
	}
	got := slices.DeleteFunc(namesIn(t, dir), func(n string) bool { return !strings.HasSuffix(n, TimelineSuffix) })
	if want := []string{"profile.pid77.timeline", "profile.timeline"}; !slices.Equal(got, want) {
		t.Errorf("timelines %q, want %q", got, want)
	}
	for _, n := range got {
		f, c, err := OpenTimeline(filepath.Join(dir, n))
		if err != nil {
			t.Fatal(err)
		}
		if f.Torn {
			t.Errorf("%s is torn", n)
		}
		c.Close()
	}
}

// TestTimelineWithoutProfile: the timeline of a process that turned out to have no profile is
// removed; so is one of a measurement without any profile.
func TestTimelineWithoutProfile(t *testing.T) {
	for _, profiles := range []int{0, 1} {
		dir := filepath.Join(t.TempDir(), "out")
		o, err := Open(dir, "solver", 0, false)
		if err != nil {
			t.Fatal(err)
		}
		streamedTo(t, o, 78)
		res := &collect.Result{}
		if profiles > 0 {
			res = measuredOnce()
			p := res.Profiles[0]
			res.First, res.Timelines = p, map[*profile.Profile]*timeline.Recorder{p: streamedTo(t, o, p.Meta.PID)}
		}
		if err := o.Write(res, &Wanted{Quiet: true}); err != nil {
			t.Fatal(err)
		}
		got := []string{}
		if profiles > 0 {
			got = slices.DeleteFunc(namesIn(t, dir), func(n string) bool { return !strings.HasSuffix(n, TimelineSuffix) })
		} else if exists(dir) {
			t.Errorf("%s is left, with %q", dir, namesIn(t, dir))
		}
		if want := []string{"profile.timeline"}[:profiles]; !slices.Equal(got, want) {
			t.Errorf("timelines %q, want %q", got, want)
		}
	}
}

// TestOldTimelines: a directory with timelines of an older run is refused, unless they are to be
// replaced. If they are, they are gone, also if the new run records no timelines.
func TestOldTimelines(t *testing.T) {
	for _, name := range []string{"profile.timeline", "profile.rank3.timeline", "profile.pid77.timeline", "profile.pid77-2.timeline"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, "solver", 0, false)
		_, jobs := (&Claims{}).Open(dir, false, &launch.Rank{Job: "j"}, dir, 1)
		for _, err := range []error{err, jobs} {
			if err == nil || !strings.Contains(err.Error(), "already holds timelines") {
				t.Errorf("%s: %v", name, err)
			}
		}
		o, err := Open(dir, "solver", 0, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Write(measuredOnce(), &Wanted{Quiet: true}); err != nil {
			t.Fatal(err)
		}
		if exists(filepath.Join(dir, name)) {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestStreamsAtOnce: timelines of several processes and snapshots begin at one time, in a directory
// that has no name yet (for the race detector).
func TestStreamsAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	o, err := Open("", "solver", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for pid := range 8 {
		all.Go(func() {
			f, err := o.StreamedTimeline(100 + pid)
			if err != nil {
				t.Error(err)
				return
			}
			f.Close()
		})
	}
	all.Go(func() {
		if err := o.WriteSnapshots(measuredOnce()); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	if n := len(files.Matching(o.Dir, "*"+TimelineSuffix)); n != 8 {
		t.Errorf("%d timelines in %s", n, o.Dir)
	}
}

// TestPageAtEnd: the page that is written at the end of a measurement shows the timeline. Of one
// that is too long, the page says so.
func TestPageAtEnd(t *testing.T) {
	o, err := Open(filepath.Join(t.TempDir(), "out"), "solver", 77, false)
	if err != nil {
		t.Fatal(err)
	}
	res := measuredOnce()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 4 << 20}, PID: 77, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(5) {
		rec.Span(&timeline.Span{TID: 5, Node: 1, From: 100 * i, To: 100*i + 50, Exec: profile.Sum{T: 50, C: 1}})
	}
	rec.End(&timeline.Dictionary{Nodes: []timeline.Node{{Parent: -1, Region: -1}, {}}, Regions: []profile.Region{{Construct: event.Barrier}},
		Threads: []profile.Thread{{}}, NodeOf: []int32{0, 1}, SeatOf: []int32{0}})
	res.Timelines = map[*profile.Profile]*timeline.Recorder{res.Profiles[0]: rec}
	if err := o.Write(res, &Wanted{Quiet: true, Formats: []string{"json"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.Dir, "profile.report.json"))
	var x page.Process
	if err := errors.Join(err, json.Unmarshal(text, &x)); err != nil || x.When == nil || len(x.When.Rows) != 1 || x.When.Rows[0].Executions != 5 {
		t.Errorf("%v: the page shows %+v", err, x.When)
	}
	for most, rows := range map[uint64]int{5: 1, 4: 0} {
		v, err := WithTimeline(report.Options{}, filepath.Join(o.Dir, "profile.timeline"), most)
		if err != nil || len(v.When.Rows) != rows || rows == 0 && !strings.Contains(v.When.Notes[0], "holds 5 executions") {
			t.Errorf("at most %d executions: %v, %+v", most, err, v.When)
		}
	}
}
