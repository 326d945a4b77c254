package reading

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// rankDirectory returns a directory with profiles of these ranks of a job of four.
func rankDirectory(t *testing.T, ranks ...int) string {
	t.Helper()
	return directoryOf(t, 4, ranks...)
}

// directoryOf returns a directory with profiles of these ranks of a job of size ranks.
func directoryOf(t *testing.T, size int, ranks ...int) string {
	t.Helper()
	dir := t.TempDir()
	for _, r := range ranks {
		p := &profile.Profile{Meta: profile.Meta{Target: profile.Target{PID: 100 + r}}}
		p.Meta.Program, p.Meta.Duration = "app", 1e9
		p.Meta.MPI = &profile.MPIJob{Rank: r, Size: size}
		p.Nodes = []profile.Node{{Parent: -1, Region: -1}}
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, job.FileName(r, 0)), b.Bytes())
	}
	return dir
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// reported runs the subcommand and returns its output on standard output, and its error.
func reported(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := reportCommand()
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	real := os.Stdout
	os.Stdout = out
	err = c.Execute()
	os.Stdout = real
	text, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), err
}

func TestReportOfAJob(t *testing.T) {
	dir := rankDirectory(t, 0, 1, 3)
	write(t, filepath.Join(dir, "profile.rank3.pid7.json.gz"), []byte("a child's, which is not read"))
	before := namesIn(t, dir)
	text, err := reported(t, dir)
	if err != nil || !strings.Contains(text, "Ranks           : 3 of 4; not read: rank 2\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if got := namesIn(t, dir); !slices.Equal(got, append([]string{"job.html"}, before...)) {
		t.Errorf("printing the text left %q", got)
	}

	one, err := reported(t, dir, "--rank", "3")
	if err != nil || !strings.Contains(one, "MPI my rank     : 3\n") {
		t.Errorf("rank 3: %v\n%s", err, one)
	}
	if _, err := reported(t, dir, "--rank", "2"); err == nil || !strings.Contains(err.Error(), "no profile of rank 2") {
		t.Errorf("rank 2: %v", err)
	}

	out := filepath.Join(t.TempDir(), "new")
	if _, err := reported(t, dir, "-o", out, "--format", "text,csv,json,pprof,html"); err != nil {
		t.Fatal(err)
	}
	want := []string{"job.calls.csv", "job.html", "job.json", "job.partners.csv", "job.pb.gz", "job.ranks.csv", "job.regions.csv", "job.sizes.csv", "job.txt"}
	if got := namesIn(t, out); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if b, err := os.ReadFile(filepath.Join(out, "job.txt")); err != nil || string(b) != text {
		t.Errorf("job.txt differs from what is printed: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "job.json")); err != nil {
		t.Error(err)
	} else if printed, err := reported(t, dir, "--format", "json", "-o", "-"); err != nil || printed != string(b) {
		t.Errorf("json on standard output: %v\n%s", err, printed)
	}
	if _, err := reported(t, dir, "--rank", "1", "--format", "ompp,pprof", "-o", out); err != nil {
		t.Error(err)
	}
	if got := namesIn(t, out); !slices.Contains(got, "profile.rank1.ompp.txt") || !slices.Contains(got, "profile.rank1.pb.gz") {
		t.Errorf("files %q", got)
	}
}

func TestReportOfABadJob(t *testing.T) {
	dir := rankDirectory(t, 0, 1)
	write(t, filepath.Join(dir, job.FileName(1, 0)), []byte("torn"))
	if text, err := reported(t, dir); err != nil || !strings.Contains(text, "* Rank 1 could not be read") || !strings.Contains(text, "* Ranks 2-3 (2) are missing") {
		t.Errorf("one torn: %v\n%s", err, text)
	}
	write(t, filepath.Join(dir, job.FileName(0, 0)), nil)
	if _, err := reported(t, dir); !errors.Is(err, profile.ErrTruncated) {
		t.Errorf("all torn: %v", err)
	}
	for _, args := range [][]string{
		{dir, "--format", "ompp"},                  // one rank's
		{dir, "--format", "csv", "-o", "-"},        // several files
		{dir, "--rank", "0", "--format", "csv"},    // a job's
		{rankDirectory(t), "--rank", "0"},          // no job
		{rankDirectory(t, 0), "--format", "", "x"}, // two directories
	} {
		_, err := reported(t, args...)
		if err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// TestReportOfAProcess: a directory without ranks gets the reports of its processes.
func TestReportOfAProcess(t *testing.T) {
	dir := rankDirectory(t, 0)
	if err := os.Rename(filepath.Join(dir, job.FileName(0, 0)), filepath.Join(dir, results.RecordName)); err != nil {
		t.Fatal(err)
	}
	if _, err := reported(t, dir, "--format", "text"); err == nil || !strings.Contains(err.Error(), "whole MPI job") {
		t.Errorf("a job's format: %v", err)
	}
	text, err := reported(t, dir)
	if err != nil || text != filepath.Join(dir, "profile.ompp.txt")+"\n"+filepath.Join(dir, "profile.pb.gz")+"\n"+filepath.Join(dir, "profile.html")+"\n" {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := reported(t, filepath.Join(dir, "absent")); err == nil || !strings.HasPrefix(err.Error(), "cannot open ") || !strings.HasSuffix(err.Error(), "; give a directory that run or attach has written") {
		t.Errorf("no directory: %v", err)
	}
}

// namesIn returns the names of the files in a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// command returns a command that has all commands of the package.
func command() *cobra.Command {
	c := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	c.AddCommand(Commands()...)
	return c
}
