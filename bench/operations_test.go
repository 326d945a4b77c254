package main

import (
	"os"
	"strings"
	"testing"
)

// The programs know each operation, and the scripts for bpftrace see it.
func TestOperations(t *testing.T) {
	ops, err := os.ReadFile("programs/ops.c")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range groups {
		for _, op := range g {
			if !strings.Contains(string(ops), `{"`+op.mode+`",`) {
				t.Errorf("%s: ops.c has no mode %s", op.title, op.mode)
			}
			seen[op.mode] = true
			for runtime, calls := range scripts {
				if (op.only == "" || op.only == runtime) && len(calls[op.mode]) == 0 {
					t.Errorf("%s: no script for mode %s of %s", op.title, op.mode, runtime)
				}
			}
		}
	}
	for _, l := range lives() {
		if !seen[l.mode] {
			t.Errorf("%s: no operation has the mode %s", l.title, l.mode)
		}
	}
	for _, a := range apps {
		for _, mode := range a.modes {
			if len(scripts["libgomp"][mode]) == 0 {
				t.Errorf("%s: no script for %s", a.name, mode)
			}
		}
	}
}

func TestScript(t *testing.T) {
	text := scriptOf([]calls{{mutex, "GOMP_critical_start", "GOMP_critical_end"}, {whole, "GOMP_barrier", ""}, {whole, "GOMP_barrier", ""}}, "/lib/libgomp.so.1")
	for want, n := range map[string]int{
		"uprobe:/lib/libgomp.so.1:GOMP_critical_start {":     1,
		"uretprobe:/lib/libgomp.so.1:GOMP_critical_end /@in": 1,
		"uprobe:/lib/libgomp.so.1:GOMP_barrier {":            1,
		"START":   0,
		"LIBRARY": 0,
	} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%q occurs %d times, want %d\n%s", want, got, n, text)
		}
	}
}

func TestAddressOf(t *testing.T) {
	const maps = `55d0c0000000-55d0c0001000 r--p 00000000 fe:00 1 /bin/ops
55d0c0001000-55d0c0002000 r-xp 00001000 fe:00 1 /bin/ops
7f0000009000-7f0000030000 r-xp 00009000 fe:00 2 /lib/libgomp.so.1.0.0
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]
`
	for _, tc := range []struct {
		path   string
		offset uint64
		want   int64
		ok     bool
	}{
		{"/lib/libgomp.so.1.0.0", 0xd214, 0x7f000000d214, true},
		{"/bin/ops", 0x1004, 0x55d0c0001004, true},
		{"/bin/ops", 0x10, 0, false},   // not executable
		{"/bin/ops", 0x2000, 0, false}, // behind its end
		{"/bin/other", 0x1004, 0, false},
	} {
		if got, ok := addressOf(maps, tc.path, tc.offset); got != tc.want || ok != tc.ok {
			t.Errorf("%s at %#x: %#x, %t, want %#x, %t", tc.path, tc.offset, got, ok, tc.want, tc.ok)
		}
	}
}

// The document is written even if some parts were not measured.
func TestMarkdownOfNothing(t *testing.T) {
	r := &results{failures: []string{"libgomp, task"}}
	if text := r.markdown(); !strings.Contains(text, "**Could not be measured in this run:** libgomp, task.") || strings.Contains(text, "NaN") {
		t.Error(text)
	}
}

// The goal for timelines of running programs is met, missed or not told by what was lost, and by
// what the program executed.
func TestLiveGoal(t *testing.T) {
	of := func(rate float64, dropped uint64) *live {
		return &live{operation: operation{title: "barrier", threads: 1}, rate: []float64{rate}, share: []float64{0.3}, perSpan: []float64{3e-7}, spans: spans{recorded: 5, dropped: dropped}}
	}
	for _, c := range []struct {
		all        []*live
		found, met string
	}{
		{[]*live{of(2e6, 0), of(3e5, 0)}, "2.00, by 30 % of a core (barrier, threads: 1); a million would take 30 % (derived)", "met"},
		{[]*live{of(2e5, 0), of(3e5, 0)}, "0.30, by 30 % of a core (barrier, threads: 1); a million would take 30 % (derived)", "not told: the probed threads execute no more"},
		{[]*live{of(2e5, 0), of(3e6, 1)}, "0.20, by 30 % of a core (barrier, threads: 1); a million would take 30 % (derived)", "**missed**"},
		{[]*live{of(3e6, 1)}, "3.00 were executed, some lost", "**missed**"},
	} {
		if found, met := liveGoal(c.all); found != c.found || met != c.met {
			t.Errorf("%q, %q; want %q, %q", found, met, c.found, c.met)
		}
	}
}
