package compare

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// A condition names a function with all template arguments, or as titles show the name.
func TestConditionOfTemplate(t *testing.T) {
	at := &profile.Region{Construct: event.Parallel, Location: profile.Location{File: "/src/grid.cc", Begin: 3, End: 9,
		Function: "Grid<std::vector<double, std::allocator<double> > >::solve<int>(int)"}}
	r := &Region{At: [2]*profile.Region{nil, at}}
	if want := "PARALLEL grid.cc (3-9) in Grid<...>::solve<int>(int)"; Title(at) != want {
		t.Errorf("%s, want %s", Title(at), want)
	}
	for of, want := range map[string]bool{"Grid<...>::solve<int>": true, "Grid<std::vector<double, std::allocator<double> > >::solve": true,
		"allocator<double>": true, "solve<int>": true, "grid.cc (3-9) in Grid": true, "solve<long>": false, "Grid<float": false} {
		x, err := ParseCondition("R:"+of+" time > 5%", nil)
		if err != nil || x.Of != of {
			t.Errorf("%s: %+v, %v", of, x, err)
			continue
		}
		if got := x.matches(r); got != want {
			t.Errorf("%s: %t", of, got)
		}
	}
}

// Sentences of conditions have no exponents.
func TestAmount(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{{1.5e9, "ns", "1.5 s"}, {123456, "ns", "0.0001235 s"}, {99999.9, "ns", "100 us"}, {-12345, "ns", "-12.35 us"}, {0, "ns", "0 s"},
		{12345, "bytes", "0.01235 MB"}, {12, "count", "12"}} {
		if got := Amount(c.v, c.unit); got != c.want {
			t.Errorf("%g %s: %s, want %s", c.v, c.unit, got, c.want)
		}
	}
}
