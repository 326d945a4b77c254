package e2e

import (
	"fmt"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
)

// A taskwait that is the last jump of a function to which others jump last is one
// place, whichever task comes to it.
func TestChainsOfLastJumps(t *testing.T) {
	atOnce(t)
	const n = 64
	var merges, sorts uint64
	var merge, sort func(n int)
	merge = func(n int) { // as in tailchain.c
		if n >= 2 {
			merges++
			merge(n / 2)
			merge(n - n/2)
		}
	}
	sort = func(n int) {
		if n >= 4 {
			sorts++
			sort(n / 2)
			sort(n - n/2)
			merge(n)
		}
	}
	sort(n)
	marks := lineMarks(t, "tailchain.c")
	want := map[string]uint64{fmt.Sprintf("line %d", marks["MERGE"]): merges, fmt.Sprintf("line %d", marks["SORT"]): sorts}
	for _, b := range []build{{"gcc", "-O3 -g"}, {"gcc", "-O0 -g"}, {"clang-19", "-O3 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			s := clean(t, options{env: threadsEnv(2)}, testbin.Build(t, "tailchain.c", b.options()), fmt.Sprint(n))
			complete(t, s.main)
			got := map[string]uint64{}
			for i := range s.main.Nodes {
				if r := s.main.Nodes[i].Region; r >= 0 && s.main.Regions[r].Construct == event.TaskWait {
					for _, st := range s.main.Nodes[i].Stats {
						got[fmt.Sprintf("line %d", s.main.Regions[r].Location.Begin)] += st.Exec.C
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("taskwaits %v, want %v\n%s", got, want, dump(s.main))
			}
		})
	}
}
