package analysis

import (
	"fmt"
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// If the user's code has no lines, the innermost function is named, with its caller. A function
// without a name is named by its address.
func TestHotLinesWithoutLines(t *testing.T) {
	named := func(name string) profile.Frame { return profile.Frame{Function: name, Object: "/lib/libx.so"} }
	unnamed := func(entry, at uint64) profile.Frame {
		return profile.Frame{Object: "/lib/libx.so", Entry: entry, Offset: at}
	}
	libc := func(name string) profile.Frame {
		return profile.Frame{Function: name, Object: "/lib/libc.so.6"}
	}
	line := profile.Frame{Function: "main", Object: "/bin/x", File: "x.c", Line: 3}
	kernel := profile.Frame{Function: "kernel", Object: "/lib/libx.so", Offset: 0x104}
	for _, tc := range []struct {
		name   string
		stacks [][]profile.Frame // innermost first
		want   [3]string         // frame, callee, caller
	}{
		{"the innermost, not the outermost", [][]profile.Frame{{named("kernel"), named("dispatch"), named("run")}}, [3]string{"kernel", "", "dispatch"}},
		{"instructions of a function are one", [][]profile.Frame{{named("kernel"), named("dispatch")}, {kernel, named("dispatch")}}, [3]string{"kernel", "", "dispatch"}},
		{"without a name", [][]profile.Frame{{unnamed(0x200, 0x208), named("run")}, {unnamed(0x200, 0x20c), named("run")}}, [3]string{"0x200", "", "run"}},
		{"the nearest caller with a name", [][]profile.Frame{{named("kernel"), unnamed(0x200, 0x208), named("run")}}, [3]string{"kernel", "", "run"}},
		{"none has one", [][]profile.Frame{{named("kernel"), unnamed(0x200, 0x208)}}, [3]string{"kernel", "", "0x200"}},
		{"what was called of the C library", [][]profile.Frame{{libc("__memcpy_avx"), libc("memcpy"), named("run"), libc("start_thread")}}, [3]string{"memcpy", "", "run"}},
		{"below a line", [][]profile.Frame{{named("kernel"), named("dispatch"), named("run"), line}}, [3]string{"main", "kernel", "dispatch"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Target: profile.Target{Path: "/bin/x"}}, Threads: []profile.Thread{{}},
				Nodes: []profile.Node{{Parent: -1, Region: -1}}}
			for _, stack := range tc.stacks {
				s := profile.Sample{Count: 1, Weight: 1}
				for _, f := range stack {
					s.Stack = append(s.Stack, len(p.Frames))
					p.Frames = append(p.Frames, f)
				}
				p.Samples = append(p.Samples, s)
			}
			hot := HotLines(p)
			if len(hot) != 1 || len(hot[0].Lines) != 1 {
				t.Fatalf("%+v, want one line", hot)
			}
			l := hot[0].Lines[0]
			for i, f := range []int{l.Frame, l.Callee, l.Caller} {
				if got := frameName(p, f); got != tc.want[i] {
					t.Errorf("%s is %q, want %q", []string{"frame", "callee", "caller"}[i], got, tc.want[i])
				}
			}
		})
	}
}

func frameName(p *profile.Profile, f int) string {
	switch {
	case f < 0:
		return ""
	case p.Frames[f].Function != "":
		return p.Frames[f].Function
	}
	return fmt.Sprintf("%#x", p.Frames[f].Entry)
}

// A region stands before the function that it is in, also if that function has no name.
func TestStacksWithoutNames(t *testing.T) {
	frames := []profile.Frame{{Function: "main", Object: "/bin/x"}, {Object: "/bin/x", Entry: 0x200, Offset: 0x210},
		{Object: "/bin/x", Entry: 0x300, Offset: 0x310}, {Function: "kernel", Object: "/bin/x"}}
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Target: profile.Target{Path: "/bin/x"}}, Threads: []profile.Thread{{}}, Frames: frames,
		Regions: []profile.Region{{Construct: event.Lock, Location: profile.Location{Object: "/bin/x", Offset: 0x318, Entry: 0x300}}},
		Nodes:   []profile.Node{{Parent: -1, Region: -1}, {Region: 0}},
		Samples: []profile.Sample{{Node: 1, Stack: []int{3, 2, 1, 0}, Count: 1, Weight: 1}}}
	want := []Step{{-1, 0}, {-1, 1}, {0, -1}, {-1, 2}, {-1, 3}}
	if got := Stacks(p)[0]; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := NameCallers(p).Regions[0].Location.From; got != "main" {
		t.Errorf("called from %q, want main", got)
	}
}
