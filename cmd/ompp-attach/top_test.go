package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/results"
)

// top and its relatives refuse invalid arguments before anything is measured, in one sentence.
func TestTopOfBadInput(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"top", "which process? give --pid PID"},
		{"top --pid 1 -- true", "not several"},
		{"top --pid 1 --job 1", "not several"},
		{"top --pid 1 --interval 1ms", "give at least 100ms"},
		{"top --pid 1 --count -1", "--count -1"},
		{"top --pid 1 --duration 0s", "give a time above 0"},
		{"top --pid 1 --format csv", `unknown format "csv"; there are screen, line, json`},
		{"top --pid 1 --format screen", "needs a terminal"},
		{"top --pid 1073741824 --format line", "no process 1073741824"},
		{"top --format line -- ./no-such-program", "no such program"},
		{"dump", "which process? give --pid PID"},
		{"dump --pid 1 --every 99ms", "give at least 100ms"},
		{"dump --pid 1073741824", "measures process 1073741824"},
		{"run --every -1s -- true", "give a time above 0"},
		{"diff a", "A and B"},
	} {
		r := root()
		r.SetArgs(strings.Fields(c.args))
		r.SilenceErrors, r.SilenceUsage = true, true
		err := r.Execute()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
		var status *cli.Exit
		if errors.As(err, &status) && status.Err == nil {
			t.Errorf("%s: no sentence", c.args)
		}
	}
}

// top refuses to write its last snapshot to the directory of the measurement that it shows. There
// the snapshot would take the place of the measurement's own profile.
func TestTopJoinsIntoItsDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	out, err := results.Open(dir, "solver", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Abandon(nil) }()
	for _, overwrite := range []bool{false, true} {
		f := &topFlags{measureFlags: measureFlags{out: dir, overwrite: overwrite}}
		if err := f.join(nil, "solver", nil); err == nil || !strings.Contains(err.Error(), "give another directory with -o") {
			t.Error(err)
		}
	}
}
