package results

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/collect"
	"ompp-attach/profile"
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
