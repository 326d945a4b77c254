package outlook

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"ompp-attach/calibration"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/preflight"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/profile"
)

func TestProcessLines(t *testing.T) {
	inspection := func(change func(*target.Inspection)) *target.Inspection {
		in := &target.Inspection{
			Process: preflight.Process{PID: 7, Threads: 1}, Path: "/bin/solver", Libraries: 1,
			Runtimes: []target.InspectedRuntime{{
				Runtime: profile.Runtime{Name: "libgomp", Path: "/lib/libgomp.so.1", Probes: 3},
				Kind:    event.Gomp, Costs: [points.SingleStep + 1]int{points.Emulated: 2, points.SingleStep: 1}, Returns: 1,
			}},
			Users: []target.RuntimeUser{{Path: "/bin/solver", Executable: true, Lines: true, Calls: []string{"GOMP_parallel"}}},
		}
		change(in)
		return in
	}
	for _, tc := range []struct {
		name         string
		change       func(*target.Inspection)
		seccompKills bool
		want         [][]string
		problem      bool
	}{
		{"all well", func(*target.Inspection) {}, true, [][]string{
			{"process", "ok", "7 runs /bin/solver with 1 thread and 1 library"},
			{"libgomp", "ok", "/lib/libgomp.so.1, version not told by the file"},
			{"probes", "ok", "3 would be placed (2 emulated, 1 single-stepped), 1 of them with a return probe"},
			{"symbols", "ok", "solver has symbols and line information"}}, false},
		{"no probe for one", func(in *target.Inspection) { in.Runtimes[0].Missing = []string{"GOMP_x: refused"} }, false,
			[][]string{{"no probe", "note", "GOMP_x: refused"}}, false},
		{"no probes at all", func(in *target.Inspection) { in.Runtimes[0].Err = errors.New("unknown build") }, false,
			[][]string{{"probes", "problem", "cannot be placed: unknown build"}}, true},
		{"replaced", func(in *target.Inspection) { in.Runtimes[0].Replaced = true }, false, [][]string{{"file", "note", "/lib/libgomp.so.1 was replaced"}}, false},
		{"MPI", func(in *target.Inspection) {
			in.MPI = []target.InspectedMPI{{Name: "Open MPI 4.1.4", Path: "/lib/libmpi.so.40", Probes: 380}}
		}, false, [][]string{{"MPI", "ok", "Open MPI 4.1.4, /lib/libmpi.so.40: 380 functions would be probed"}}, false},
		{"MPI without volumes", func(in *target.Inspection) {
			in.MPI = []target.InspectedMPI{{Name: "MPICH", Path: "/lib/libmpi.so.12", Unknown: errors.Join(errors.New("no accessor"), errors.New("no size"))}}
		}, false, [][]string{{"volumes", "note", "calls and their times are exact, volumes are not known: no accessor; no size"}}, false},
		{"MPI that resists", func(in *target.Inspection) {
			in.MPI = []target.InspectedMPI{{Path: "/lib/libmpi.so.1", Err: errors.New("no entry points")}}
		}, false, [][]string{{"MPI", "problem", "/lib/libmpi.so.1: its calls cannot be measured: no entry points"}}, true},
		{"no lines", func(in *target.Inspection) { in.Users[0].Lines = false }, false,
			[][]string{{"symbols", "note", "solver has symbols but no line information"}, {"->", "build with -g"}}, false},
		{"stripped", func(in *target.Inspection) { in.Users[0].Lines, in.Users[0].Stripped = false, true }, false,
			[][]string{{"symbols", "note", "solver is stripped: regions are shown as solver+offset"}, {"->", "build with -g and do not strip"}}, false},
		{"sources", func(in *target.Inspection) {
			in.Users[0].Sources = []target.Source{{File: "/a.c"}, {File: "/b.c", State: target.SourceMissing}, {File: "/c.c", State: target.SourceNewer}}
		}, false, [][]string{{"source", "ok", "/a.c"}, {"source", "note", "/b.c is not here"}, {"source", "note", "/c.c is not used, because it is newer"}, {"->", "rebuild"}}, false},
		{"static", func(in *target.Inspection) { in.Users[0].Static, in.Runtimes[0].Static = true, true }, false,
			[][]string{{"libgomp", "ok", "/lib/libgomp.so.1 (linked in statically)"}}, false},
		{"no OpenMP", func(in *target.Inspection) {
			in.Runtimes, in.Users, in.NoOpenMP = nil, nil, "nothing found; `ompp-attach check --pid 7` lists it"
		}, false, [][]string{{"runtime", "problem", "nothing found"}}, true},
		{"nobody calls it", func(in *target.Inspection) { in.Users = nil }, false, [][]string{{"callers", "note"}}, false},
		{"seccomp", func(in *target.Inspection) { in.Process.Seccomp = true }, true, [][]string{{"seccomp", "problem"}, {"->", "use a kernel from 6.14 on"}}, true},
		{"seccomp on a good kernel", func(in *target.Inspection) { in.Process.Seccomp = true }, false, [][]string{{"process", "ok"}}, false},
		{"unread files", func(in *target.Inspection) { in.Unread = fmt.Errorf("a: %w\nb", os.ErrPermission) }, false, [][]string{{"unread files", "note", "a: permission denied; b"}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ls := ProcessLines(inspection(tc.change), tc.seccompKills)
			text := preflight.Format(ls)
			for _, words := range tc.want {
				hasLine(t, text, words...)
			}
			problem := false
			for _, l := range ls {
				problem = problem || l.State == preflight.Problem
			}
			if problem != tc.problem {
				t.Errorf("problem %t, want %t:\n%s", problem, tc.problem, text)
			}
		})
	}
}

// hasLine wants a line that begins with the words, with any blanks between them.
func hasLine(t *testing.T, text string, words ...string) {
	t.Helper()
	for l := range strings.Lines(text) {
		if strings.HasPrefix(strings.Join(strings.Fields(l), " "), strings.Join(words, " ")) {
			return
		}
	}
	t.Errorf("no line begins with %q in:\n%s", words, text)
}

// TestCostText: on x86-64, jumps and pushes have costs of their own.
func TestCostText(t *testing.T) {
	c := &calibration.Costs{Mode: "uprobe.multi", Emulated: calibration.Split{Before: 1000, After: 500}}
	if s := costText(c); !strings.Contains(s, "1.50 us on an instruction that the kernel emulates") || strings.Contains(s, "jump") {
		t.Errorf("without jumps: %s", s)
	}
	c.Jump = calibration.Split{Before: 1000, After: 250}
	if s := costText(c); !strings.Contains(s, "1.25 us on a jump, 1.50 us on a push") || strings.Contains(s, "emulates") {
		t.Errorf("with jumps: %s", s)
	}
	c.Crowd = calibration.Crowd{Threads: 64, Alone: 600, Each: 9000}
	if s := costText(c); !strings.Contains(s, "A hit that writes no record takes 0.60 us of one thread,\nand 9.00 us of each of 64 threads that hit probes at once.") {
		t.Errorf("with many threads: %s", s)
	}
}
