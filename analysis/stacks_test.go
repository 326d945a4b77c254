package analysis

import (
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// stackProfile makes a profile of regions and samples. Each region lies in the one before, and is
// written as CONSTRUCT@FUNCTION with the function of its directive. A sample is written as NODE:
// FRAMES, outermost first. Frames of libraries are gomp:NAME and libc:NAME. A stack that was cut
// begins with "cut".
func stackProfile(t *testing.T, regions, samples []string) *profile.Profile {
	t.Helper()
	p := &profile.Profile{
		Meta:  profile.Meta{Target: profile.Target{Path: "/bin/x"}, Runtimes: []profile.Runtime{{Path: "/lib/libgomp.so.1"}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}}, Threads: []profile.Thread{{}},
	}
	for i, text := range regions {
		name, function, _ := strings.Cut(text, "@")
		c, ok := event.ParseConstruct(name)
		if !ok {
			t.Fatalf("%s is no construct", name)
		}
		p.Regions = append(p.Regions, profile.Region{Construct: c, Location: profile.Location{Function: function}})
		p.Nodes = append(p.Nodes, profile.Node{Parent: i, Region: i})
	}
	index := map[profile.Frame]int{}
	for _, text := range samples {
		at, stack, _ := strings.Cut(text, ": ")
		s := profile.Sample{Node: len(at), Count: 1, Weight: 1} // as many marks as nodes deep
		if at == "-" {
			s.Node = 0
		}
		for _, name := range strings.Fields(stack) {
			if name == "cut" {
				s.Cut = true
				continue
			}
			f := profile.Frame{Function: name, Object: "/bin/x", File: "x.c", Line: 1}
			if library, function, ok := strings.Cut(name, ":"); ok {
				f = profile.Frame{Function: function, Object: map[string]string{"gomp": "/lib/libgomp.so.1", "libc": "/lib/libc.so.6"}[library]}
			}
			n, known := index[f]
			if !known {
				n = len(p.Frames)
				index[f] = n
				p.Frames = append(p.Frames, f)
			}
			s.Stack = append([]int{n}, s.Stack...)
		}
		p.Samples = append(p.Samples, s)
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStacks(t *testing.T) {
	const (
		toMain = "libc:_start libc:__libc_start_main main "
		worker = "libc:clone3 libc:start_thread gomp:gomp_thread_start "
	)
	for _, tc := range []struct {
		name    string
		regions []string
		samples []string // "*": a node deep, "**": two
		want    []string
	}{
		{"outside regions", nil, []string{"-: " + toMain + "f", "-: " + worker}, []string{"main f", "gomp_thread_start"}},
		{"a worker's way is the primary thread's", []string{"PARALLEL@f"},
			[]string{"*: " + toMain + "f gomp:GOMP_parallel f._omp_fn.0 g", "*: " + worker + "f._omp_fn.0 h"},
			[]string{"main f PARALLEL f._omp_fn.0 g", "main f PARALLEL f._omp_fn.0 h"}},
		{"on two ways", []string{"PARALLEL@f"},
			[]string{"*: " + toMain + "a f gomp:GOMP_parallel f._omp_fn.0", "*: " + toMain + "b f gomp:GOMP_parallel f._omp_fn.0", "*: " + worker + "f._omp_fn.0"},
			[]string{"main a f PARALLEL f._omp_fn.0", "main b f PARALLEL f._omp_fn.0", "main PARALLEL f._omp_fn.0"}},
		{"the primary thread was not found", []string{"PARALLEL@f"}, []string{"*: " + worker + "f._omp_fn.0"}, []string{"PARALLEL f._omp_fn.0"}},
		{"waiting", []string{"PARALLEL@f", "BARRIER@f"},
			[]string{"**: " + toMain + "f gomp:GOMP_parallel f._omp_fn.0 gomp:GOMP_barrier gomp:wait libc:syscall", "*: " + worker + "gomp:wait libc:syscall",
				"*: " + toMain + "f gomp:GOMP_parallel gomp:wait"},
			[]string{"main f PARALLEL BARRIER f._omp_fn.0 GOMP_barrier", "main f PARALLEL gomp_thread_start", "main f PARALLEL GOMP_parallel"}},
		{"a region stands before its function", []string{"PARALLEL@f", "CRITICAL@h"},
			[]string{"**: " + toMain + "f gomp:GOMP_parallel f._omp_fn.0 g h i"}, []string{"main f PARALLEL f._omp_fn.0 g CRITICAL h i"}},
		{"outside teams", []string{"CRITICAL@g"}, []string{"*: " + toMain + "f g h"}, []string{"main f CRITICAL g h"}},
		{"nested teams", []string{"PARALLEL@f", "LOOP@f", "PARALLEL@g"},
			[]string{"***: " + toMain + "f gomp:GOMP_parallel f._omp_fn.0 g gomp:GOMP_parallel g._omp_fn.0",
				"***: " + worker + "f._omp_fn.0 g gomp:GOMP_parallel g._omp_fn.0", "***: " + worker + "g._omp_fn.0"},
			[]string{"main f PARALLEL LOOP f._omp_fn.0 g PARALLEL g._omp_fn.0", "main f PARALLEL LOOP f._omp_fn.0 g PARALLEL g._omp_fn.0",
				"main f PARALLEL LOOP f._omp_fn.0 g PARALLEL g._omp_fn.0"}},
		{"a body that is called directly", []string{"PARALLEL@f"}, []string{"*: " + toMain + "f f.omp_outlined f.omp_outlined_debug__ g"},
			[]string{"main f PARALLEL f.omp_outlined f.omp_outlined_debug__ g"}},
		{"a stray stack is no way", []string{"PARALLEL@f"},
			append(slices.Repeat([]string{"*: " + toMain + "f gomp:GOMP_parallel f._omp_fn.0"}, 30), "*: garbage gomp:GOMP_parallel f._omp_fn.0", "*: "+worker+"f._omp_fn.0"),
			append(slices.Repeat([]string{"main f PARALLEL f._omp_fn.0"}, 30), "garbage PARALLEL f._omp_fn.0", "main f PARALLEL f._omp_fn.0")},
		{"cut", []string{"PARALLEL@f"}, []string{"*: " + toMain + "f gomp:GOMP_parallel f._omp_fn.0", "*: cut g h"},
			[]string{"main f PARALLEL f._omp_fn.0", "main f PARALLEL g h"}},
		{"a region that is not known", nil, []string{"-: " + toMain + "f gomp:GOMP_parallel f._omp_fn.0 g"}, []string{"main f f._omp_fn.0 g"}},
		{"a task in a barrier", []string{"PARALLEL@f", "TASK@g", "TASKEXEC@g"},
			[]string{"***: " + worker + "f._omp_fn.0 gomp:GOMP_barrier g._omp_fn.1 h"}, []string{"PARALLEL f._omp_fn.0 TASK TASKEXEC g._omp_fn.1 h"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := stackProfile(t, tc.regions, tc.samples)
			for i, steps := range Stacks(p) {
				var got []string
				for _, s := range steps {
					if s.Region >= 0 {
						got = append(got, p.Regions[s.Region].Construct.String())
					} else {
						got = append(got, p.Frames[s.Frame].Function)
					}
				}
				if got := strings.Join(got, " "); got != tc.want[i] {
					t.Errorf("%s\n gives %s\n want  %s", tc.samples[i], got, tc.want[i])
				}
			}
		})
	}
}

func TestHotLines(t *testing.T) {
	p := stackProfile(t, []string{"PARALLEL@f"}, []string{
		"*: libc:_start main f gomp:GOMP_parallel f._omp_fn.0 g",
		"*: libc:_start main f gomp:GOMP_parallel f._omp_fn.0 g",
		"*: libc:_start main f gomp:GOMP_parallel f._omp_fn.0 libc:memcpy libc:inner",
		"-: libc:_start main",
		"*: libc:_start main f gomp:GOMP_parallel gomp:do_wait",
	})
	p.Regions[0].Location.Begin = 7
	for i := range p.Frames { // as callee it stands for no operation
		p.Frames[i].Atomic = p.Frames[i].Function == "g" || p.Frames[i].Function == "memcpy"
	}
	p.Samples[0].Phase, p.Samples[1].Phase, p.Samples[2].Phase = "body", "body", "barrier"
	hot := HotLines(p)
	if len(hot) != 2 || hot[0].Region != 0 || hot[0].Weight != 4 || hot[1].Region != -1 || hot[1].Weight != 1 {
		t.Fatalf("regions %+v", hot)
	}
	if h := hot[0]; h.Phases["body"] != 2 || h.Phases["barrier"] != 1 || len(h.Lines) != 3 {
		t.Fatalf("%+v", h)
	}
	// Lines of a function that was called are not shown, and make no row of their own.
	other := len(p.Frames)
	for i := range p.Samples {
		for j, f := range p.Samples[i].Stack {
			if g := p.Frames[f]; g.Function == "memcpy" {
				g.File, g.Line = "memcpy.S", 300
				p.Frames = append(p.Frames, g)
				p.Samples = append(p.Samples, p.Samples[i])
				p.Samples[len(p.Samples)-1].Stack = slices.Clone(p.Samples[i].Stack)
				p.Samples[len(p.Samples)-1].Stack[j] = other
				break
			}
		}
	}
	if h := HotLines(p)[0]; len(p.Frames) == other || len(h.Lines) != 3 {
		t.Errorf("with another line of memcpy: %+v", h)
	}
	p.Frames, p.Samples = p.Frames[:other], p.Samples[:5]
	if hot[0].Atomic != 2 || hot[1].Atomic != 0 {
		t.Errorf("in atomic operations: %d and %d, want 2 and 0", hot[0].Atomic, hot[1].Atomic)
	}
	p.Samples[0].Phase, p.Samples[1].Phase = profile.PhaseProbe, profile.PhaseProbe
	if h := HotLines(p)[0]; h.Weight != 4 || h.Phases["probe"] != 2 || len(h.Lines) != 2 {
		t.Errorf("two samples in probes: %+v, want two lines, of the others", h)
	}
	name := func(f int) string {
		if f < 0 {
			return ""
		}
		return p.Frames[f].Function
	}
	for i, want := range []struct {
		frame, callee string
		weight        uint64
		// f lies outside, and is not there.
	}{{"g", "", 2}, {"", "GOMP_parallel", 1}, {"f._omp_fn.0", "memcpy", 1}} {
		l := hot[0].Lines[i]
		if name(l.Frame) != want.frame || name(l.Callee) != want.callee || l.Weight != want.weight {
			t.Errorf("line %d: %s, %s, %d; want %+v", i, name(l.Frame), name(l.Callee), l.Weight, want)
		}
	}
}
