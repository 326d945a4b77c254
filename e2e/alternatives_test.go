package e2e

import (
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Of two loops in the branches of an if, the one that was not executed is not counted. This holds
// although GCC made one call of their barriers. A directive that the preprocessor left out is not
// missed.
func TestAlternativeLoops(t *testing.T) {
	atOnce(t)
	const threads = 3
	for _, flags := range []string{"-g -O0", "-g -O1", "-g -O2", "-g -O3", "-g -O3 -no-pie"} {
		for tile, times := range map[string][3]uint64{"32": {1, 0, 5}, "0": {0, 1, 5}} {
			t.Run(flags+" "+tile, func(t *testing.T) {
				t.Parallel()
				bin := testbin.Build(t, "alternatives.c", build{"gcc", flags}.options())
				s := clean(t, options{env: threadsEnv(threads)}, bin, "128", tile)
				complete(t, s.main)
				balanced(t, s.main)
				for n, line := range []int{23, 33, 41} {
					loop := func(r *profile.Region) bool { return r.Construct == event.Loop && r.Location.Begin == line }
					got := count(s.main, execC, loop).total()
					if want := threads * times[n]; got != want && (got > 0 || !tells(s.main, line)) {
						t.Errorf("loop of line %d: got %d, want %d, and nothing is said of it", line, got, want)
					}
				}
				if slices.ContainsFunc(s.main.Unseen, func(u profile.Unseen) bool { return strings.Contains(u.What, "line 21") }) {
					t.Errorf("line 21 was not compiled, and is missed: %v", s.main.Unseen)
				}
				if t.Failed() {
					t.Logf("profile:\n%s", dump(s.main))
				}
			})
		}
	}
}
