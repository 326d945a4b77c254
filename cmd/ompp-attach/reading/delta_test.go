package reading

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/compare/comparetest"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// snapshotAfter returns a recorded snapshot of a run of the heat program. Its times are steps times
// the times of one step.
func snapshotAfter(t *testing.T, steps float64) []byte {
	t.Helper()
	p := comparetest.Heat().Profile(func() float64 { return steps })
	p.Meta.Start = time.Unix(1000, 0)
	p.Meta.SnapshotAt = p.Meta.Start.Add(time.Duration(p.Meta.Duration))
	var b bytes.Buffer
	if err := profile.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReportOfAWindow(t *testing.T) {
	dir := t.TempDir()
	for n := range 3 {
		write(t, filepath.Join(dir, results.KeptName(results.RecordStem, n+1)), snapshotAfter(t, float64(n+1)))
	}
	write(t, filepath.Join(dir, results.RecordName), snapshotAfter(t, 4))
	out := filepath.Join(t.TempDir(), "out")
	if _, err := reported(t, "--delta", "1", "3", dir, "-o", out); err != nil {
		t.Fatal(err)
	}
	p, err := results.ReadProfile(filepath.Join(out, results.RecordName))
	if err != nil || p.Meta.Duration != 2000200000 || p.Nodes[1].Stats[0].Exec.T != 400e6 {
		t.Errorf("%v: %d ns", err, p.Meta.Duration)
	}
	if text, err := reported(t, "--delta", "2,end", dir); err != nil || !strings.Contains(text, "2.00 s of a longer measurement") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err := reported(t, "--delta", "0,1", dir); err != nil || !strings.Contains(text, "heat.c (40-48)") {
		t.Errorf("%v\n%s", err, text)
	}

	child := comparetest.Heat().Profile(func() float64 { return 1 })
	child.Meta.PID, child.Meta.Start = 8, time.Unix(1000, 0)
	var whole bytes.Buffer
	if err := profile.Encode(&whole, child); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "profile.pid8"+results.RecordSuffix), whole.Bytes())
	if text, err := reported(t, "--delta", "0,1", dir); err != nil || strings.Count(text, "heat.c (40-48)") < 2 || !strings.Contains(text, "8") {
		t.Errorf("of two processes: %v\n%s", err, text)
	}
	if err := os.Remove(filepath.Join(dir, "profile.pid8"+results.RecordSuffix)); err != nil {
		t.Fatal(err)
	}

	other := comparetest.Heat().Profile(comparetest.Exactly)
	other.Meta.PID = 7
	var b bytes.Buffer
	if err := profile.Encode(&b, other); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, results.KeptName(results.RecordStem, 4)), b.Bytes())
	write(t, filepath.Join(dir, results.KeptName(results.RecordStem, 5)), snapshotAfter(t, 1)[:50])
	for _, c := range []struct {
		args   string
		want   string
		status int
	}{
		{"--delta 1 9 DIR", "there are snapshot.1.json.gz, snapshot.2.json.gz, snapshot.3.json.gz and 2 more", 0},
		{"--delta 3 1 DIR", "the earlier one first", cli.BadUsage},
		{"--delta 1 DIR", "the earlier one first", cli.BadUsage},
		{"--delta x,2 DIR", "as in `report --delta 2 5 DIR`", cli.BadUsage},
		{"--delta 1,4 DIR", "not an earlier and a later one of the same measurement", 0},
		{"--delta 1,5 DIR", "truncated", 0},
		{"--delta 1,2 DIR --rank 2", "cannot open", 0},
		{"--delta 1,2 DIR -o DIR", "has the profile of a measurement", cli.BadUsage},
		{"--delta 1,2 DIR --by region", "--delta goes with", cli.BadUsage},
		{"--delta 1,2 DIR --efficiency", "--delta goes with", cli.BadUsage},
		{"--delta 1,2 DIR --properties", "--delta goes with", cli.BadUsage},
		{"--delta 1,2 DIR --format tau -o -", "give a directory", cli.BadUsage},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "DIR", dir))
		_, err := reported(t, args...)
		var status *cli.Exit
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &status) != (c.status != 0) {
			t.Errorf("%s: %v, want %q and status %d", c.args, err, c.want, c.status)
		}
	}
}

// TestWindowsOfJobsReplaceNothing: the reports of the whole job stay.
func TestWindowsOfJobsReplaceNothing(t *testing.T) {
	dir := t.TempDir()
	for n := range 2 {
		write(t, filepath.Join(dir, results.KeptName("profile.rank0", n+1)), snapshotAfter(t, float64(n+1)))
	}
	write(t, filepath.Join(dir, "profile.rank0"+results.RecordSuffix), snapshotAfter(t, 3))
	write(t, filepath.Join(dir, "job.html"), []byte("the whole job"))
	if text, err := reported(t, "--delta", "1", "2", dir); err != nil || !strings.Contains(text, "Job") && !strings.Contains(text, "rank") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := reported(t, "--delta", "1", "2", "--format", "html", dir); err == nil || !strings.Contains(err.Error(), "give -o OUT") {
		t.Errorf("files in the job's directory: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "job.html")); err != nil || string(b) != "the whole job" {
		t.Errorf("%v: the page of the whole job is %q", err, b)
	}
}
