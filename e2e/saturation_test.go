package e2e

import (
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Two threads that do nothing else for seconds than enter criticals, set locks,
// pass barriers, create and execute tasks: nothing is lost, and the counts are
// those of the program.
func TestSaturationForSeconds(t *testing.T) {
	const seconds, threads = "1.5", "2"
	for _, compiler := range []string{"gcc", "clang-19"} {
		t.Run(compiler, func(t *testing.T) {
			bin := testbin.Build(t, "saturate.c", testbin.Options{Compiler: compiler})
			s := clean(t, options{}, bin, "each", seconds, threads)
			truth, err := testbin.ParseCounts(strings.NewReader(s.stdout))
			if err != nil {
				t.Fatal(err)
			}
			if n := s.main.Meta.LostHits; n != 0 {
				t.Errorf("%d of %d hits are lost", n, n+s.main.Meta.Hits)
			}
			complete(t, s.main)
			balanced(t, s.main)
			var checks []check
			for _, kind := range []struct {
				name   string
				region func(*profile.Region) bool
			}{
				{"critical", is(event.Critical)}, {"lock", is(event.Lock)},
				{"barrier", is(event.Barrier)}, {"task", is(event.Task)},
			} {
				if truth.Total(kind.name) < 10000 {
					t.Errorf("%d executions of %s: the program did not get to work", truth.Total(kind.name), kind.name)
				}
				checks = append(checks, check{name: kind.name, got: count(s.main, execC, kind.region), want: sum(truth, named(kind.name))})
			}
			compare(t, checks)
			tasks := count(s.main, execC, is(event.TaskExec))
			if tasks.total() != truth.Total("task") {
				t.Errorf("%d executions of tasks, %d were created", tasks.total(), truth.Total("task"))
			}
		})
	}
}
