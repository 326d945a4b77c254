package results

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/job"
	"ompp-attach/profile"
)

var measurementBegan = time.Unix(1000, 0)

// put records a process that began, and was measured until, so many seconds after the measurement's
// begin. n is the number of the snapshot, or atEnd.
func put(t *testing.T, dir, stem string, n, pid int, began, until float64) {
	t.Helper()
	putPaused(t, dir, stem, n, pid, began, until, 0)
}

// putPaused records a process that was then paused, for so many ns.
func putPaused(t *testing.T, dir, stem string, n, pid int, began, until float64, off int64) {
	t.Helper()
	after := func(s float64) time.Time { return measurementBegan.Add(time.Duration(s * 1e9)) }
	p := profileOf(pid)
	p.Nodes = []profile.Node{{Parent: -1, Region: -1}}
	p.Meta.Start, p.Meta.Duration, p.Meta.Off.T = after(began), int64((until-began)*1e9), off
	name := stem + RecordSuffix
	if n != atEnd {
		p.Meta.SnapshotAt = after(until)
		name = KeptName(stem, n)
	}
	if err := Save(filepath.Join(dir, name), func(w io.Writer) error { return profile.Encode(w, p) }); err != nil {
		t.Fatal(err)
	}
}

// TestWindowOfProcesses: of each process that ran within a window, the result has what it did in
// the window. This includes processes that began or ended meanwhile, and no others.
func TestWindowOfProcesses(t *testing.T) {
	dir := t.TempDir()
	all := func(stem string, pid int, began, until float64) {
		for n, at := range map[int]float64{1: 10, 2: 20, 3: 30} {
			if began < at && until > at {
				put(t, dir, stem, n, pid, began, at)
			}
		}
		put(t, dir, stem, atEnd, pid, began, until)
	}
	all("profile", 1, 0, 40)
	all("profile.pid2", 2, 0, 15)
	all("profile.pid3", 3, 12, 17)
	all("profile.pid4", 4, 15, 40)
	all("profile.pid5", 5, 0, 5)
	all("profile.pid6", 6, 25, 40)
	put(t, dir, "profile.pid7", 2, 7, 5, 20) // was not there at 1, as if only dump had asked for it
	put(t, dir, "profile.pid7", atEnd, 7, 5, 40)
	w, ok := OpenWindow(dir, "1", "2")
	if !ok || w.Check() != nil {
		t.Fatal(ok, w.Check())
	}
	want := map[string]float64{"profile": 10, "profile.pid2": 5, "profile.pid3": 5, "profile.pid4": 5}
	for _, stem := range w.Stems() {
		p, err := w.Read(stem)
		seconds, there := want[stem]
		switch {
		case there && (err != nil || p.Meta.Duration != int64(seconds*1e9)):
			t.Errorf("%s: %v", stem, err)
		case stem == "profile.pid7" && (err == nil || err.Error() != "process 7 has no snapshot 1"):
			t.Errorf("%s: %v", stem, err)
		case stem != "profile.pid7" && !there && !errors.Is(err, ErrNotThere):
			t.Errorf("%s did not run within the window: %v", stem, err)
		}
	}
	if stems := w.Stems(); len(stems) != 7 || stems[0] != "profile" {
		t.Errorf("processes %q", stems)
	}
	if apart := w.Apart(); apart != "" {
		t.Error(apart)
	}
	w, _ = OpenWindow(dir, "3", "end")
	var there []string
	for _, stem := range w.Stems() {
		if _, err := w.Read(stem); err == nil {
			there = append(there, stem)
		}
	}
	if !slices.Equal(there, []string{"profile", "profile.pid4", "profile.pid6"}) {
		t.Errorf("after the last snapshot there are %q", there)
	}
	w, _ = OpenWindow(dir, "2", "9")
	if err := w.Check(); err == nil || !strings.Contains(err.Error(), "has no snapshot 9; there are snapshot.1.json.gz") {
		t.Error(err)
	}
}

// TestWindowsApart: the windows of a job's ranks that are not of the same time say so.
func TestWindowsApart(t *testing.T) {
	for late, want := range map[float64]string{0.05: "", 2: "they begin up to 2s apart, and end up to 2s apart"} {
		dir := t.TempDir()
		w, _ := OpenWindow(dir, "1", "2")
		for rank := range 2 {
			stem := strings.TrimSuffix(job.FileName(rank, 0), RecordSuffix)
			put(t, dir, stem, 1, rank, 0, 10+float64(rank)*late)
			put(t, dir, stem, 2, rank, 0, 20+float64(rank)*late)
			put(t, dir, stem, atEnd, rank, 0, 30)
			r, err := w.Source(job.Source{Name: stem + RecordSuffix, Rank: rank}).Open()
			if err != nil {
				t.Fatal(err)
			}
			if p, err := profile.Decode(r); err != nil || p.Meta.Duration != 10e9 || !p.Meta.SnapshotAt.IsZero() || p.Meta.Ended != "" || len(p.Warnings) != 1 {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		if got := w.Apart(); got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%.2f s late: %q, want %q", late, got, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "profile.rank0"+RecordSuffix)); err != nil || len(w.Stems()) > 0 {
			t.Errorf("%v; ranks are no other processes: %q", err, w.Stems())
		}
	}
}

// A process that is paused has not ended, however short the time in which it was measured.
func TestWindowOfPausedProcess(t *testing.T) {
	for off, want := range map[int64]string{0: "", 12e9: "process 3 has no snapshot 2"} {
		dir := t.TempDir()
		put(t, dir, "profile", 1, 1, 0, 10)
		put(t, dir, "profile", 2, 1, 0, 20)
		put(t, dir, "profile.pid3", 1, 3, 5, 10)
		putPaused(t, dir, "profile.pid3", atEnd, 3, 5, 15, off)
		w, _ := OpenWindow(dir, "1", "2")
		if _, err := w.Read("profile.pid3"); (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("off for %d ns: %v, want %q", off, err, want)
		}
	}
}

// The note on a window tells its length, also of a few ms, or why nothing was measured in it.
func TestWindowText(t *testing.T) {
	of := func(duration, off, stopped int64) profile.Meta {
		return profile.Meta{Life: profile.Life{Duration: duration}, Gaps: profile.Gaps{Off: profile.Sum{T: off}, Stopped: profile.Stopped{Total: stopped}}}
	}
	for want, m := range map[string]profile.Meta{
		"measured in 7.12 ms of a longer": of(7123456, 0, 0),
		"measured in 12 us of a longer":   of(12000, 5, 5),
		"switched off":                    of(0, 5, 5),
		"was stopped":                     of(0, 0, 5),
		"one moment":                      of(0, 0, 0),
	} {
		got := windowText(&m)
		if !strings.Contains(got, want) || strings.Contains(got, "Nothing was measured") != (m.Duration == 0) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
