package e2e

import (
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Where GCC has joined a parallel region and the construct in it to one call, the region is of both
// kinds. Sections are counted, and no barrier is reported that the program does not have.
func TestJoinedConstructs(t *testing.T) {
	atOnce(t)
	const threads, rounds, sections = 2, 50, 3
	for _, flags := range []string{"-O0", "-O2", "-g -O0", "-g -O2", "-g -O3"} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			s := clean(t, options{env: threadsEnv(threads)}, testbin.Build(t, "joined.c", build{"gcc", flags}.options()))
			complete(t, s.main)
			balanced(t, s.main)
			is := func(kinds ...event.Construct) func(*profile.Region) bool {
				return func(r *profile.Region) bool { return slices.Contains(kinds, r.Construct) }
			}
			regions := is(event.Parallel, event.ParallelSections, event.ParallelLoop)
			if got := count(s.main, execC, regions).total(); got != 2*rounds*threads {
				t.Errorf("%d executions of parallel regions, want %d", got, 2*rounds*threads)
			}
			if got := count(s.main, bodyC, is(event.Sections, event.ParallelSections)).total(); got != rounds*sections {
				t.Errorf("%d sections, want %d", got, rounds*sections)
			}
			if got := count(s.main, execC, is(event.Barrier)).total(); got != 0 {
				t.Errorf("%d executions of barriers, want none", got)
			}
			if t.Failed() {
				t.Logf("profile:\n%s", dump(s.main))
			}
		})
	}
}
