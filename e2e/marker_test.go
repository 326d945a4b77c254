package e2e

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
)

func withMarkers(t *testing.T, b build, more ...string) testbin.Options {
	t.Helper()
	opt := b.options()
	opt.Flags = append(append(opt.Flags, "-I"+filepath.Join(testbin.Repo(t), "include")), more...)
	return opt
}

// Markers of regions, and of what is not to be measured.
func TestMarkers(t *testing.T) {
	atOnce(t)
	const steps = 5
	for _, b := range []build{{"gcc", "-O2 -g"}, {"gcc", "-O0 -no-pie"}, {"gcc", "-O3 -static"}, {"gcc", "-O2 -s"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			bin := testbin.Build(t, "markers.c", withMarkers(t, b))
			s := clean(t, options{env: threadsEnv(2)}, bin, strconv.Itoa(steps))
			sameCounts(t, userCounts(s.main), map[string]uint64{"all": 1, "step": steps, "inner work": 1 + 2*steps})
			criticals := count(s.main, execC, is(event.Critical))
			if got := criticals.total(); got != 2*2*steps {
				t.Errorf("%d criticals while measuring was on, want %d\n%s", got, 2*2*steps, dump(s.main))
			}
			off, measured, told := s.main.Meta.Off, s.main.Meta.Duration, printedCounts(t, s.stdout)
			least, most, inMain := int64(told["least"]), int64(told["most"]), int64(told["main"])
			if off.C != 2 || off.T < least || off.T > most {
				t.Errorf("off %d times, for %d ns; want 2 times, for %d to %d", off.C, off.T, least, most)
			}
			// Time before and after main counts, too. It is less than the time that was off.
			if measured < inMain-most || measured >= inMain {
				t.Errorf("duration %d ns; main took %d, of which %d to %d off", measured, inMain, least, most)
			}
			balanced(t, s.main)
		})
	}
	t.Run("gfortran", func(t *testing.T) {
		opt := withMarkers(t, build{"gfortran", "-O2 -g"}, filepath.Join(testbin.Repo(t), "include", "ompp_fortran.c"))
		s := clean(t, options{env: threadsEnv(2)}, testbin.Build(t, "markers.f90", opt))
		complete(t, s.main)
		sameCounts(t, userCounts(s.main), map[string]uint64{"outer": 3, "inner": 6})
		compare(t, []check{{name: "CRITICAL", got: count(s.main, execC, is(event.Critical)), want: perThread{0: 3, 1: 3}}})
	})
}

// Regions given by lines.
func TestLineRegions(t *testing.T) {
	atOnce(t)
	src := filepath.Join(testbin.Repo(t), "testdata", "programs", "lines.c")
	begin, end := markedLines(t, src)
	var flags []string
	for name, line := range begin {
		flags = append(flags, "--region", name+"=lines.c:"+strconv.Itoa(line)+"-lines.c:"+strconv.Itoa(end[name]))
	}
	for _, b := range []build{{"gcc", "-O0 -g"}, {"gcc", "-O2 -g"}, {"gcc", "-O3 -g -no-pie"}, {"clang-19", "-O2 -g"}, {"clang-14", "-O0 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			s := clean(t, options{env: threadsEnv(2), flags: flags}, testbin.Build(t, "lines.c", b.options()), "7")
			complete(t, s.main)
			balanced(t, s.main)
			sameCounts(t, userCounts(s.main), printedCounts(t, s.stdout))
		})
	}
	bin := testbin.Build(t, "lines.c", testbin.Options{})
	for region, want := range map[string]string{
		"x=elsewhere.c:1-2": "no line information names elsewhere.c",
		"x=lines.c:1-3":     "there is no code in lines 1 to 3",
		"x=lines.c:9-3":     "comes before its first",
		"x=lines.c:84-88":   "the code of line 84 is that of a parallel region",
		"lines.c:3":         "write NAME=FILE:LINE",
	} {
		s := run(t, options{flags: []string{"--region", region}}, bin)
		if s.exit == 0 || s.stdout != "" || !strings.Contains(s.stderr, want) {
			t.Errorf("%s: exit status %d, stdout %q, stderr %q, want %q", region, s.exit, s.stdout, s.stderr, want)
		}
	}
	// Optimised code does nothing for the line at which this function begins.
	s := clean(t, options{flags: []string{"--region", "head=lines.c:45-47"}}, bin, "7")
	if got, want := userCounts(s.main)["head"], printedCounts(t, s.stdout)["plain"]; got == 0 || got != want {
		t.Errorf("head: %d executions, want %d, those of plain", got, want)
	}
}

// What is not wanted is not probed, and the report says so.
func TestSelection(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "constructs.c", testbin.Options{})
	all := clean(t, options{env: threadsEnv(2)}, bin, "3", "9").main
	for _, tc := range []struct {
		flags []string
		gone  []event.Construct
		kept  event.Construct
	}{
		{[]string{"--disable", "critical,lock"}, []event.Construct{event.Critical, event.Lock, event.NestLock}, event.Barrier},
		{[]string{"--disable", "sync"}, []event.Construct{event.Critical, event.Lock, event.Barrier, event.Atomic, event.Ordered}, event.Single},
		{[]string{"--only", "single"}, []event.Construct{event.Critical, event.Lock, event.Barrier, event.Loop, event.Sections}, event.Single},
	} {
		p := clean(t, options{env: threadsEnv(2), flags: tc.flags}, bin, "3", "9").main
		for _, c := range tc.gone {
			if n := count(p, execC, is(c)).total(); n != 0 || count(all, execC, is(c)).total() == 0 {
				t.Errorf("%v: %d of %s", tc.flags, n, c)
			}
		}
		compare(t, []check{
			{name: tc.kept.String(), got: count(p, execC, is(tc.kept)), want: count(all, execC, is(tc.kept))},
			{name: "PARALLEL", got: count(p, execC, parallel), want: count(all, execC, parallel)},
		})
		if p.Meta.Hits >= all.Meta.Hits || len(p.Meta.LeftOut) == 0 || p.Meta.Unmatched != 0 {
			t.Errorf("%v: %d hits of %d, left out %q, unmatched %d", tc.flags, p.Meta.Hits, all.Meta.Hits, p.Meta.LeftOut, p.Meta.Unmatched)
		}
		balanced(t, p)
	}
	p := clean(t, options{env: threadsEnv(2), flags: []string{"--disable", "file:constructs.c"}}, bin, "3", "9").main
	for _, r := range p.Regions {
		if strings.HasSuffix(r.Location.File, "constructs.c") {
			t.Errorf("%s at line %d is shown", r.Construct, r.Location.Begin)
		}
	}
	s := run(t, options{flags: []string{"--disable", "critcal"}}, bin)
	if s.exit != 2 || !strings.Contains(s.stderr, "critical") || s.stdout != "" {
		t.Errorf("a class that does not exist: exit status %d, stderr %q", s.exit, s.stderr)
	}
}
