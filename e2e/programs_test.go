package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// againstTruth runs a program with and without the tool, and compares.
func againstTruth(t *testing.T, src string, b build, threads int, args ...string) *profile.Profile {
	t.Helper()
	bin := testbin.Build(t, src, b.options())
	truth := testbin.RunTruth(t, bin, args, append(threadsEnv(threads), "TRUTH_BODIES=1"))
	s := clean(t, options{env: threadsEnv(threads)}, bin, args...)
	complete(t, s.main)
	balanced(t, s.main)
	if testbin.TruthKind(t, bin) == "ompt" {
		compare(t, kmpcChecks(s.main, truth))
	} else {
		compare(t, gompChecks(s.main, truth, true))
	}
	return s.main
}

// Exceptions that unwind through guards inside regions, longjmp, templates,
// lambdas; workshare in Fortran. The programs check their own results, so that
// a broken unwinding shows as their failure.
func TestLanguages(t *testing.T) {
	atOnce(t)
	for _, tc := range []struct {
		src string
		build
	}{
		{"constructs.cpp", build{"g++", "-O2 -g"}},
		{"constructs.cpp", build{"g++", "-O0"}},
		{"constructs.cpp", build{"clang++-19", "-O2 -g"}},
		{"constructs.cpp", build{"clang++-14", "-O3"}},
		{"constructs.f90", build{"gfortran", "-O2 -g"}},
		{"constructs.f90", build{"gfortran", "-O0"}},
	} {
		t.Run(tc.build.String(), func(t *testing.T) {
			p := againstTruth(t, tc.src, tc.build, 4, "3")
			if t.Failed() {
				t.Logf("profile:\n%s", dump(p))
			}
		})
	}
}

// Several initial threads start teams at once: each has rows of its own.
func TestInitialThreadsStayApart(t *testing.T) {
	atOnce(t)
	const masters, reps = 3, 100
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			p := againstTruth(t, "masters.c", b, 2, strconv.Itoa(masters), strconv.Itoa(reps))
			rows := map[int]int{} // root -> rows
			for row, th := range p.Threads {
				got := map[event.Construct]uint64{}
				for _, n := range p.Nodes {
					for _, s := range n.Stats {
						if n.Region >= 0 && s.Thread == row {
							got[p.Regions[n.Region].Construct] += s.Exec.C
						}
					}
				}
				if len(got) == 0 {
					continue // the process's first thread starts no team
				}
				rows[th.Root]++
				for _, c := range []event.Construct{event.Parallel, event.Critical, event.Barrier} {
					if got[c] != reps {
						t.Errorf("thread %d.%d: %d executions of %s, want %d", th.Root, th.Num, got[c], c, reps)
					}
				}
			}
			sizes := map[int]int{}
			for _, n := range rows {
				sizes[n]++
			}
			for size := 2; size < masters+2; size++ {
				if sizes[size] != 1 {
					t.Errorf("%d initial threads with teams of %d, want 1 (rows per root: %v)", sizes[size], size, rows)
				}
			}
		})
	}
}

// A process is stopped whenever it loads a library: that is nobody's time, also
// if a region is under way.
func TestLibrariesLoadedInRegion(t *testing.T) {
	atOnce(t)
	for _, b := range []build{{"gcc", "-O2 -g -ldl"}, {"clang-19", "-O2 -g -ldl"}} {
		t.Run(b.String(), func(t *testing.T) {
			againstTruth(t, "loading.c", b, 2, "20")
		})
	}
}

// A thousand threads, each with a little OpenMP, outside and inside of teams.
func TestThreadStorm(t *testing.T) {
	atOnce(t)
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			againstTruth(t, "storm.c", b, 2, "1000")
		})
	}
}

// Every process of a tree has a profile of its own, also over exec; one without
// OpenMP has none.
func TestProcessTree(t *testing.T) {
	atOnce(t)
	const threads = 2
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			other := testbin.Build(t, "constructs.c", b.options())
			s := clean(t, options{env: threadsEnv(threads)}, testbin.Build(t, "forks.c", b.options()), other)
			complete(t, s.main)
			if got := count(s.main, execC, is(event.Critical)).total(); got != 2*threads {
				t.Errorf("parent: %d criticals, want %d", got, 2*threads)
			}
			seen := map[uint64]int{}
			for name, p := range s.others {
				if !strings.HasPrefix(name, "profile.pid"+strconv.Itoa(p.Meta.PID)+".") {
					t.Errorf("%s is the profile of process %d", name, p.Meta.PID)
				}
				complete(t, p)
				balanced(t, p)
				seen[count(p, execC, is(event.Critical)).total()]++
			}
			// Three regions in a child; three criticals a thread in constructs.c.
			if len(s.others) != 2 || seen[3*threads] != 2 {
				t.Errorf("children: criticals %v in %d profiles, want twice %d", seen, len(s.others), 3*threads)
			}
		})
	}
}

// A runtime that comes by dlopen, goes and comes again: nothing is missed, from
// its first region on.
func TestOpenedLibrary(t *testing.T) {
	atOnce(t)
	const reps, n, threads = 8, 5, 2 // libgomp ends a worker in each repetition
	bin := testbin.Build(t, "dlopened.c", testbin.Options{NoOpenMP: true})
	for _, compiler := range []string{"gcc", "clang-19"} {
		t.Run(compiler, func(t *testing.T) {
			lib := testbin.Build(t, "libregions.c", testbin.Options{Compiler: compiler, Flags: []string{"-O2", "-g", "-fPIC", "-shared"}})
			s := clean(t, options{env: threadsEnv(threads)}, bin, lib, strconv.Itoa(reps), strconv.Itoa(n))
			complete(t, s.main)
			balanced(t, s.main)
			if want := fmt.Sprintln(reps * n * threads); s.stdout != want {
				t.Errorf("program printed %q, want %q", s.stdout, want)
			}
			for _, c := range []struct {
				name  string
				match func(*profile.Region) bool
			}{
				{"PARALLEL", parallel},
				{"CRITICAL plugin", func(r *profile.Region) bool { return r.Construct == event.Critical && r.Name == "plugin" }},
			} {
				if got := count(s.main, execC, c.match); !got.equal(perThread{0: reps * n, 1: reps * n}) {
					t.Errorf("%s: %v, want %d per thread\n%s", c.name, got, reps*n, dump(s.main))
				}
			}
			if text := strings.Join(s.main.Warnings, "\n"); strings.Contains(text, "several teams at once") {
				t.Errorf("one team after the other, and a warning:\n%s", text)
			}
			for _, r := range s.main.Regions {
				if filepath.Base(r.Location.File) != "libregions.c" {
					t.Errorf("a region does not lie in libregions.c: %+v", r)
				}
			}
		})
	}
}

// A process that ends inside a region leaves a whole profile, and its status.
func TestSuddenEnds(t *testing.T) {
	atOnce(t)
	const n, threads = 3, 4
	for _, compiler := range []string{"gcc", "clang-19"} {
		for _, tc := range []struct {
			src  string
			args []string
			exit int
		}{
			{"crash.c", []string{"3"}, 128 + 11},
			{"exits.c", []string{"3"}, 3},
			{"exits.c", []string{"3", "1"}, 3},
			{"exits.c", []string{"3", "0", "_exit"}, 3},
		} {
			t.Run(compiler+" "+tc.src+" "+strings.Join(tc.args, " "), func(t *testing.T) {
				t.Parallel()
				s := run(t, options{env: threadsEnv(threads)}, testbin.Build(t, tc.src, testbin.Options{Compiler: compiler}), tc.args...)
				if s.exit != tc.exit {
					t.Errorf("exit status %d, want %d; stderr: %s", s.exit, tc.exit, s.stderr)
				}
				if s.main == nil {
					t.Fatal("no profile")
				}
				balanced(t, s.main)
				all := perThread{}
				for th := range threads {
					all[th] = n + 1
				}
				if got := count(s.main, execC, is(event.Critical)); !got.equal(all) {
					t.Errorf("criticals: %v, want %d per thread", got, n+1)
				}
				if got := count(s.main, execC, parallel); !got.equal(all) {
					t.Errorf("executions of the region: %v, want %d per thread", got, n+1)
				}
				if s.main.Meta.Partial == 0 {
					t.Error("the last execution of the region is not counted as partial")
				}
				if s.main.Meta.Unmatched != 0 || s.main.Meta.LostHits != 0 {
					t.Errorf("unmatched %d, lost %d, want none", s.main.Meta.Unmatched, s.main.Meta.LostHits)
				}
			})
		}
	}
}

// The highest rate of events: exact, or said to be not. Nothing in between.
func TestSaturation(t *testing.T) {
	const threads = 2
	modes := map[string]struct {
		match func(*profile.Region) bool
		n     uint64 // executions per thread
	}{
		// Threads of libomp spin for a lock. Beside other load the spinning lasts a time slice.
		"critical": {is(event.Critical), 20000}, "named": {is(event.Critical), 20000},
		"lock": {is(event.Lock), 20000}, "nestlock": {is(event.NestLock), 20000},
		// Several hundred thousand records are more than the rings hold.
		"testlock": {is(event.Lock), 100000}, "barrier": {is(event.Barrier), 100000}, "region": {parallel, 100000},
	}
	for _, compiler := range []string{"gcc", "clang-19"} {
		for mode, of := range modes {
			if testing.Short() && mode != "critical" {
				continue
			}
			t.Run(compiler+" "+mode, func(t *testing.T) {
				bin := testbin.Build(t, "saturate.c", testbin.Options{Compiler: compiler})
				// Threads that wait for each other at a barrier do not spin.
				s := clean(t, options{env: []string{"OMP_WAIT_POLICY=passive"}}, bin, mode, strconv.FormatUint(of.n, 10), strconv.Itoa(threads))
				m := s.main.Meta
				if m.LostHits == 0 {
					complete(t, s.main)
					balanced(t, s.main)
					if got := count(s.main, execC, of.match); !got.equal(perThread{0: of.n, 1: of.n}) {
						t.Errorf("nothing lost, but %v executions, want %d per thread", got, of.n)
					}
					return
				}
				t.Logf("lost %d of %d", m.LostHits, m.LostHits+m.Hits)
				var located uint64
				for _, l := range s.main.Lost {
					located += l.Events
				}
				if located != m.LostHits {
					t.Errorf("%d events lost, %d of them located", m.LostHits, located)
				}
				if got := count(s.main, execC, of.match).total(); got > threads*of.n {
					t.Errorf("%d executions, more than the %d there were", got, threads*of.n)
				}
			})
		}
	}
}
