package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

var taskMatrix = []struct {
	build
	threads []int
}{
	{build{"gcc", "-O2 -g"}, []int{1, 2, 4}},
	{build{"gcc", "-O0 -g"}, []int{2}},
	{build{"gcc", "-O3 -g -static"}, []int{3}},
	{build{"clang-19", "-O3 -g"}, []int{1, 2, 4}},
	{build{"clang-19", "-O0 -g"}, []int{2}},
	{build{"clang-14", "-O2 -g"}, []int{2}},
}

// Who created and who executed how many tasks, by construct and thread, is what
// the program itself has counted.
func TestTaskCounts(t *testing.T) {
	atOnce(t)
	for _, m := range taskMatrix {
		for _, threads := range m.threads {
			if testing.Short() && (len(m.threads) == 1 || threads == 4) {
				continue
			}
			t.Run(fmt.Sprintf("%s threads=%d", m.build, threads), func(t *testing.T) {
				t.Parallel()
				taskCounts(t, testbin.Build(t, "tasks.c", m.options()), threads, "all")
			})
		}
	}
}

// Hundreds of thousands of tiny tasks, as fast as two threads execute them: no hit is lost.
func TestManyTasks(t *testing.T) {
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			bin := testbin.Build(t, "tasks.c", b.options())
			unlessOthersRun(t, upTo(3, func() []string {
				s := clean(t, options{env: threadsEnv(2)}, bin, "fib", "25") // 243,000
				lost := s.losses()
				if lost == nil {
					sameTasks(t, s)
				}
				return lost
			}))
		})
	}
}

func taskCounts(t *testing.T, bin string, threads int, args ...string) {
	t.Helper()
	sameTasks(t, clean(t, options{env: threadsEnv(threads)}, bin, args...))
}

// sameTasks compares what was measured with what the program printed.
func sameTasks(t *testing.T, s *session) {
	t.Helper()
	truth, err := testbin.ParseCounts(strings.NewReader(s.stdout))
	if err != nil {
		t.Fatal(err)
	}
	complete(t, s.main)
	checks := []check{{name: "TASKWAIT", got: count(s.main, execC, is(event.TaskWait)), want: sum(truth, named("create:taskwaits"))},
		{name: "TASKGROUP", got: count(s.main, execC, is(event.TaskGroup)), want: sum(truth, named("create:taskgroups"))}}
	constructs := 0
	for name, at := range truth {
		kind, ok := strings.CutPrefix(name, "line:")
		if !ok || kind == "taskwaits" || kind == "taskgroups" {
			continue
		}
		constructs++
		line := int(at[0])
		here := func(cs ...event.Construct) func(*profile.Region) bool {
			return func(r *profile.Region) bool { return r.Location.Begin == line && slices.Contains(cs, r.Construct) }
		}
		created := []event.Construct{event.Task}
		executed := event.TaskExec
		switch kind {
		case "untied":
			created, executed = []event.Construct{event.UntiedTask}, event.UntiedTaskExec
		case "loop_tasks":
			created = []event.Construct{event.TaskLoop}
		}
		checks = append(checks,
			check{name: "created: " + kind, got: count(s.main, execC, here(created...)), want: sum(truth, named("create:"+kind))},
			// An untied task may change its thread after it has counted.
			check{name: "executed: " + kind, got: count(s.main, execC, here(executed)), want: sum(truth, named("execute:"+kind)), totals: kind == "untied"})
	}
	if constructs == 0 {
		t.Fatal("the program tells of no construct")
	}
	compare(t, checks)
	balanced(t, s.main)
	if t.Failed() {
		t.Logf("profile:\n%s", dump(s.main))
	}
}
