package e2e

import (
	"fmt"
	"strconv"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Dynamic loops are counted in all kinds of teams, and their chunks cost no
// probe: as many hits for many of them as for few. Ordered blocks and sections
// are counted each.
func TestChunks(t *testing.T) {
	atOnce(t)
	const reps, loops, kinds = 3, 6, 3
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}, {"clang-14", "-O0 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			bin := testbin.Build(t, "chunks.c", b.options())
			measured := func(iterations int) *profile.Profile {
				s := clean(t, options{env: append(threadsEnv(2), "OMP_SCHEDULE=dynamic,1")}, bin, strconv.Itoa(reps), strconv.Itoa(iterations))
				if want := fmt.Sprintln(reps * kinds * (loops*iterations + 3)); s.stdout != want {
					t.Fatalf("the program says %q, want %q", s.stdout, want)
				}
				complete(t, s.main)
				balanced(t, s.main)
				// A team of two and two of one.
				threads := func(n uint64) perThread { return perThread{0: kinds * reps * n, 1: reps * n} }
				compare(t, []check{
					{name: "LOOP", got: count(s.main, execC, is(event.Loop)), want: threads(loops)},
					{name: "LOOP bodies", got: count(s.main, bodyC, is(event.Loop)), want: threads(loops)},
					{name: "ORDERED", got: count(s.main, bodyC, is(event.Ordered)), want: perThread{0: uint64(kinds * reps * iterations)}, totals: true},
					{name: "SECTIONS", got: count(s.main, execC, is(event.Sections)), want: threads(1)},
					{name: "sections", got: count(s.main, bodyC, is(event.Sections)), want: perThread{0: kinds * reps * 3}, totals: true},
				})
				return s.main
			}
			few, many := measured(5), measured(400)
			if hits := many.Meta.Hits - few.Meta.Hits; hits > 395*reps*kinds*3+20 {
				t.Errorf("%d hits for 5 chunks a loop, %d more for 400: not only those of ordered blocks, 3 each", few.Meta.Hits, hits)
			}
		})
	}
}
