package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Static loops of libomp of which the next event tells the end are counted exactly, and so is all
// that follows them. The same program is run with probes at libomp's functions, where each end has
// its own probe. It has the same executions at each place.
func TestLoopEnds(t *testing.T) {
	atOnce(t)
	for _, level := range []string{"-O0", "-O2"} {
		t.Run(level, func(t *testing.T) {
			var region []string
			measure := func(says string, flags ...string) (*profile.Profile, map[string][2]uint64) {
				bin := testbin.Build(t, "loopends.c", withMarkers(t, build{"clang-19", strings.Join(append(flags, level, "-g"), " ")}))
				s := clean(t, options{env: threadsEnv(3), flags: append([]string{"--verbose", "--sample", "off", "--counters", "none", "--probe-atomics"}, region...)}, bin, "40")
				complete(t, s.main)
				balanced(t, s.main)
				if !strings.Contains(s.stderr, says) {
					t.Errorf("nobody says %q:\n%s", says, s.stderr)
				}
				return s.main, executionsAt(s.main)
			}
			told, got := measure("probed at their calls")
			if at := count(told, execC, is(event.UserRegion)).total(); at != 300*3 {
				t.Errorf("the marked region was executed %d times, want 900", at)
			}
			all, want := measure("by dlsym", "-Wl,-u,dlsym")
			if d := cmp.Diff(want, got); d != "" || len(want) < 10 {
				t.Errorf("-probes at functions +at calls\n%s", d)
			}
			if told.Meta.Hits+2000 > all.Meta.Hits {
				t.Errorf("%d hits with probes at calls, %d at functions: the comparison shows nothing", told.Meta.Hits, all.Meta.Hits)
			}
			// The region begins behind the end of a loop.
			region = []string{"--region", "second=loopends.c:12-13"}
			_, got = measure("")
			_, want = measure("", "-Wl,-u,dlsym")
			if d := cmp.Diff(want, got); d != "" || len(want) < 11 {
				t.Errorf("with a region by lines: -probes at functions +as it is\n%s", d)
			}
		})
	}
}

// executionsAt returns how often each call path was executed, and its body, by all threads.
func executionsAt(p *profile.Profile) map[string][2]uint64 {
	at := map[string][2]uint64{}
	for i := range p.Nodes {
		path := ""
		for n := i; n >= 0 && p.Nodes[n].Region >= 0; n = p.Nodes[n].Parent {
			r := &p.Regions[p.Nodes[n].Region]
			path = r.Construct.String() + fmt.Sprintf(" %d/", r.Location.Begin) + path
		}
		sum := at[path]
		for j := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[j]
			sum[0], sum[1] = sum[0]+s.Exec.C, sum[1]+s.Body.C
		}
		at[path] = sum
	}
	return at
}

// The same holds among nested regions, tasks, cancelled regions, exceptions and loops of other
// kinds. libomp's own tool interface counts as many loops.
func TestLoopWays(t *testing.T) {
	atOnce(t)
	for _, level := range []string{"-O0", "-O3"} {
		t.Run(level, func(t *testing.T) {
			opt := testbin.Options{Compiler: "clang++-19", Flags: []string{level, "-g"}}
			measure := func(says string, opt testbin.Options) (*profile.Profile, map[string][2]uint64) {
				s := clean(t, options{env: []string{"OMP_CANCELLATION=true"}, flags: []string{"--verbose", "--sample", "off", "--counters", "none"}},
					testbin.Build(t, "loopways.cpp", opt), "40")
				complete(t, s.main)
				balanced(t, s.main)
				if !strings.Contains(s.stderr, says) {
					t.Errorf("nobody says %q:\n%s", says, s.stderr)
				}
				return s.main, executionsAt(s.main)
			}
			told, got := measure("probed at their calls", opt)
			truth := testbin.RunTruth(t, testbin.Build(t, "loopways.cpp", opt), []string{"40"}, []string{"OMP_CANCELLATION=true"})
			opt.Flags = append(opt.Flags, "-Wl,-u,dlsym")
			_, want := measure("by dlsym", opt)
			if d := cmp.Diff(want, got); d != "" || len(want) < 40 {
				t.Errorf("%d places; -probes at functions +at calls\n%s", len(want), d)
			}
			loops := count(told, execC, is(event.Loop, event.ParallelLoop)).total()
			if n := sum(truth, named("loop")).total(); loops != n || n < 2000 {
				t.Errorf("%d loops, want %d", loops, n)
			}
		})
	}
}
