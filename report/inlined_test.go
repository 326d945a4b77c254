package report

import (
	"testing"

	"ompp-attach/profile"
)

// A function that was inlined into two others has one frame, whose address is in one of these. Each
// sample names the function that it was in, and has an address there.
func TestInlinedTwice(t *testing.T) {
	const object = "/bin/a"
	frame := func(function string, line int, at uint64, inlined bool) profile.Frame {
		return profile.Frame{Function: function, File: "a.c", Line: line, Object: object, Offset: at, Inlined: inlined}
	}
	p := &profile.Profile{
		Meta:    profile.Meta{Target: profile.Target{Program: "a", Path: object}},
		Threads: []profile.Thread{{}},
		Nodes:   []profile.Node{{Parent: -1, Region: -1}},
		Frames: []profile.Frame{frame("now", 3, 0x110, true), frame("spin", 5, 0x110, true),
			frame("one", 7, 0x110, false), frame("two", 9, 0x210, false), frame("pi", 11, 0x220, true), frame("spin", 4, 0x104, false)},
	}
	p.Meta.Sampling = &profile.Sampling{Event: "task-clock", Unit: "ns", Taken: 4}
	for i, stack := range [][]int{{0, 1, 2}, {0, 1, 3}, {4, 3}, {5}} {
		p.Samples = append(p.Samples, profile.Sample{Stack: stack, Count: 1 << i, Weight: 1})
	}
	type place struct {
		outermost string
		at        uint64
		lines     int
	}
	want := map[int64]place{1: {"one", 0x110, 3}, 2: {"two", 0x210, 3}, 4: {"two", 0x220, 2}, 8: {"spin", 0x104, 1}}
	out := buildSamples(p, false)
	if err := out.CheckValid(); err != nil {
		t.Fatal(err)
	}
	for _, s := range out.Sample {
		l := s.Location[0]
		if got := (place{l.Line[len(l.Line)-1].Function.Name, l.Address, len(l.Line)}); got != want[s.Value[0]] {
			t.Errorf("sample %d is in %+v, want %+v", s.Value[0], got, want[s.Value[0]])
		}
	}
	if len(out.Sample) != len(want) {
		t.Errorf("%d samples", len(out.Sample))
	}
}
