package e2e

import (
	"fmt"
	"strconv"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Region bodies may go on on another, higher stack. Then the kernel takes return probes pending on
// the lower one for left by longjmp, and forgets them. So a return through one of them kills the
// program.
func TestCoroutines(t *testing.T) {
	atOnce(t)
	const rounds, team = 20, 3
	for _, b := range []build{{"gcc", "-O0"}, {"gcc", "-O2 -g"}, {"clang-19", "-O0"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			s := clean(t, options{}, testbin.Build(t, "coroutine.c", b.options()), strconv.Itoa(rounds))
			if want := fmt.Sprintf("done %d\n", 3*team*rounds); s.stdout != want {
				t.Errorf("the program printed %q, want %q", s.stdout, want)
			}
			complete(t, s.main)
			balanced(t, s.main)
			each := func(n uint64) perThread { return perThread{0: n, 1: n, 2: n} }
			compare(t, []check{
				{name: "PARALLEL", got: count(s.main, execC, parallel), want: each(rounds)},
				{name: "LOCK", got: count(s.main, execC, is(event.Lock)), want: each(3 * rounds)},
				{name: "LOCK bodies", got: count(s.main, bodyC, is(event.Lock)), want: each(3 * rounds)},
			})
			if t.Failed() {
				t.Logf("profile:\n%s", dump(s.main))
			}
		})
	}
}

// recursions are the cases of recurse.c, and what each has by construction with
// teams of 2.
var recursions = []struct {
	mode  string
	match func(*profile.Region) bool
	n     uint64
}{
	{"critical", is(event.Critical), 2 * 500},
	{"lock", is(event.NestLock), 2 * 500},
	{"regions", parallel, 2 + 2*499},
	{"teams", parallel, 2 * (1 + 2 + 4)},
	{"branching", parallel, 2 + 2*(1<<10-1)},
}

// recursed checks a profile of one case of recurse.c.
func recursed(t *testing.T, p *profile.Profile, match func(*profile.Region) bool, n uint64) {
	t.Helper()
	complete(t, p)
	balanced(t, p)
	if got := count(p, execC, match).total(); got != n {
		t.Errorf("%d executions, want %d\n%s", got, n, dump(p))
	}
}

// Regions, criticals and locks in functions that call themselves 500 deep: the
// kernel drops return probes past 64 pending per thread.
func TestRecursion(t *testing.T) {
	atOnce(t)
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}, {"clang-14", "-O0 -g"}} {
		for _, c := range recursions {
			t.Run(b.String()+" "+c.mode, func(t *testing.T) {
				t.Parallel()
				recursed(t, againstTruth(t, "recurse.c", b, 2, c.mode, "500"), c.match, c.n)
			})
		}
	}
}

// The same holds in the ways in which older kernels attach. They attach one process, or two at once
// under one tool, where the hits of one process may arm a return probe of the other.
func TestRecursionInAllModes(t *testing.T) {
	atOnce(t)
	modes := []string{"multi", "perf"}
	if testing.Short() {
		modes = modes[:1] // perf events take seconds to attach and detach
	}
	for _, attach := range modes {
		for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
			bin := testbin.Build(t, "recurse.c", b.options())
			opt := options{env: threadsEnv(2), flags: []string{"--attach-mode", attach}}
			for _, c := range recursions {
				perf := attach == "perf" // perf events take half a minute to attach and detach
				if perf && (c.mode != "regions" || b.compiler != "gcc") {
					continue
				}
				t.Run(attach+" "+b.String()+" "+c.mode, func(t *testing.T) {
					t.Parallel()
					recursed(t, clean(t, opt, bin, c.mode, "500").main, c.match, c.n)
				})
				if perf {
					continue
				}
				t.Run(attach+" "+b.String()+" "+c.mode+" twice at once", func(t *testing.T) {
					t.Parallel()
					s := run(t, opt, "/bin/sh", "-c", `"$0" "$@" & "$0" "$@" && wait $!`, bin, c.mode, "500")
					if s.exit != 0 || len(s.others) != 2 || s.main != nil {
						t.Fatalf("exit status %d, %d profiles, one of the shell: %t; stderr: %s", s.exit, len(s.others), s.main != nil, s.stderr)
					}
					for _, p := range s.others {
						recursed(t, p, c.match, c.n)
					}
				})
			}
		}
	}
}
