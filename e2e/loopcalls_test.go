package e2e

import (
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
)

// Static loops of libomp are probed at their calls, and loops that are all of their region not at
// all. No loop is missed or counted twice: not in libraries that are loaded later, nor where calls
// come through pointers. There, libomp's own functions are probed from then on.
func TestLoopCalls(t *testing.T) {
	atOnce(t)
	const reps, threads = 50, 2
	for _, c := range []struct {
		name     string
		program  string // flags, on top of -O2 -g
		library  string // "-": none
		pointers int
		says     string
	}{
		{"no library", "", "-", 0, "probed at their calls"},
		{"library", "", "", 0, "probed at their calls"},
		{"library without optimisation", "", "-O0", 0, "probed at their calls"},
		{"pointers", "", "-DPOINTERS", 1, "from here on all static loops are probed"},
		{"dlsym", "-Wl,-u,dlsym", "", 0, "by dlsym"},
		{"without lines", "-g0", "", 0, "probes placed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			flags := func(more string) []string { return append([]string{"-O2", "-g"}, strings.Fields(more)...) }
			bin := testbin.Build(t, "loopcalls.c", testbin.Options{Compiler: "clang-19", Flags: flags(c.program)})
			args := []string{strconv.Itoa(reps)}
			libraries := 0
			if c.library != "-" {
				args = append(args, testbin.Build(t, "loopcalls.c", testbin.Options{Compiler: "clang-19", Flags: flags("-DLIBRARY -fPIC -shared " + c.library)}))
				libraries = 1
			}
			truth := testbin.RunTruth(t, bin, args, append(threadsEnv(threads), "TRUTH_BODIES=1"))
			s := clean(t, options{env: threadsEnv(threads), flags: []string{"--verbose", "--sample", "off", "--counters", "none"}}, bin, args...)
			complete(t, s.main)
			balanced(t, s.main)
			if !strings.Contains(s.stderr, c.says) {
				t.Errorf("nobody says %q:\n%s", c.says, s.stderr)
			}
			compare(t, kmpcChecks(s.main, truth))
			each := func(n int) perThread { return perThread{0: uint64(n), 1: uint64(n)} }
			if c.program != "-g0" {
				compare(t, []check{
					{name: "PARALLEL LOOP", got: count(s.main, execC, is(event.ParallelLoop)), want: each(2*reps + libraries)},
					{name: "LOOP", got: count(s.main, execC, is(event.Loop)), want: each(4*reps + libraries + c.pointers)},
				})
			}
			if t.Failed() {
				t.Logf("profile:\n%s", dump(s.main))
			}
		})
	}
}

// A region that is one loop is that loop also if it has no iterations: then clang's code makes no
// calls for it.
func TestEmptyLoops(t *testing.T) {
	atOnce(t)
	const reps = 5
	bin := testbin.Build(t, "loopcalls.c", testbin.Options{Compiler: "clang-19", Flags: []string{"-O2", "-g"}})
	s := clean(t, options{env: threadsEnv(2)}, bin, strconv.Itoa(reps), "-", "0")
	complete(t, s.main)
	each := func(n uint64) perThread { return perThread{0: n, 1: n} }
	compare(t, []check{
		{name: "PARALLEL LOOP", got: count(s.main, execC, is(event.ParallelLoop)), want: each(2 * reps)},
		{name: "PARALLEL", got: count(s.main, execC, is(event.Parallel)), want: each(2 * reps)},
		{name: "LOOP", got: count(s.main, execC, is(event.Loop)), want: perThread{}},
	})
}

// The barrier of a loop without iterations is not taken for that of the construct before it. This
// is tested with and without lines, and with probes at calls and at libomp's functions.
func TestBarriersOfEmptyLoops(t *testing.T) {
	atOnce(t)
	const reps = 20
	for _, c := range []struct{ compiler, flags string }{
		{"clang-19", "-O0 -g"}, {"clang-19", "-O3 -g"}, {"clang-19", "-O0 -s"}, {"clang-19", "-O3 -s"},
		{"clang-19", "-O3 -Wl,-u,dlsym"}, {"clang-14", "-O0"}, {"clang-14", "-O3"},
	} {
		t.Run(c.compiler+" "+c.flags, func(t *testing.T) {
			bin := testbin.Build(t, "emptyloops.c", testbin.Options{Compiler: c.compiler, Flags: strings.Fields(c.flags)})
			each := func(n uint64) perThread { return perThread{0: n * reps, 1: n * reps} }
			for _, z := range []struct {
				iterations string
				// Counts of each thread: loops, loops with a barrier, other barriers.
				loops, own, barrier uint64
			}{{"0", 9, 3, 8}, {"90", 16, 10, 1}} {
				s := clean(t, options{env: threadsEnv(2), flags: []string{"--sample", "off", "--counters", "none"}}, bin, strconv.Itoa(reps), "100", z.iterations)
				complete(t, s.main)
				balanced(t, s.main)
				compare(t, []check{
					{name: "LOOP", got: count(s.main, execC, is(event.Loop)), want: each(z.loops)},
					{name: "LOOP barriers", got: count(s.main, barrierC, is(event.Loop)), want: each(z.own)},
					{name: "SECTIONS", got: count(s.main, execC, is(event.Sections)), want: each(1)},
					{name: "SINGLE", got: count(s.main, execC, is(event.Single)), want: each(1)},
					{name: "SECTIONS, SINGLE barriers", got: count(s.main, barrierC, is(event.Sections, event.Single)), want: perThread{}},
					{name: "BARRIER", got: count(s.main, execC, is(event.Barrier)), want: each(z.barrier)},
				})
			}
		})
	}
}
