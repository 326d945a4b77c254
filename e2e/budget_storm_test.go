package e2e

import (
	"fmt"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// said is what a profile says of how often constructs were executed: between least
// and most, or at least so often.
func said(p *profile.Profile, constructs event.Constructs) (least, most uint64, open bool) {
	sums := map[int]*profile.Estimate{}
	counts := map[int]uint64{}
	for _, n := range p.Nodes {
		if n.Region < 0 || !constructs.Has(p.Regions[n.Region].Construct) {
			continue
		}
		for _, s := range n.Stats {
			counts[n.Region] += s.Exec.C
			sums[n.Region] = sums[n.Region].Plus(s.Estimate)
		}
	}
	for region, count := range counts {
		e := sums[region]
		if e == nil {
			e = &profile.Estimate{}
		}
		low, high := e.Interval(count)
		least, most, open = least+low, most+high, open || e.AtLeast
	}
	return least, most, open
}

// wrongSaid lists the constructs of which a profile does not tell what the program has printed.
func wrongSaid(t *testing.T, s *session, constructs map[string]event.Constructs) (wrong []string) {
	t.Helper()
	told := map[string]uint64{}
	for _, l := range strings.Split(s.stdout, "\n") {
		var name string
		var n uint64
		if k, _ := fmt.Sscanf(l, "%s %d", &name, &n); k == 2 {
			told[name] = n
		}
	}
	for name, of := range constructs {
		truth := told[name]
		least, most, open := said(s.main, of)
		text := fmt.Sprintf("%s: %d, said to be %d to %d, or more: %v; %d hits lost, %d switches", name, truth, least, most, open, s.main.Meta.LostHits, len(s.main.Meta.Observations))
		t.Log(text)
		switch {
		case truth == 0 || open && truth < least: // more than were executed
			t.Error(text)
		case truth < least || truth > most && !open:
			wrong = append(wrong, text)
		}
	}
	return wrong
}

// In a storm, an operation takes nanoseconds and a probe of it a microsecond. What is said of
// executions that were not observed is true. The interval holds the program's own count, or the
// report says only that there were at least so many. An interval may be wrong in one of ten cases:
// of several tries, one must be right.
func TestBudgetInStorms(t *testing.T) {
	task, tasks := "task", event.SetOf(event.Task, event.UntiedTask)
	waits, locks := event.SetOf(event.TaskWait), event.SetOf(event.Lock)
	runs, storms := 0, 0
	for _, tc := range []struct {
		kind, size string
		truth      map[string]event.Constructs
	}{
		{"fib", "25", map[string]event.Constructs{task: tasks, "taskwait": waits}},
		{"uts", "6000", map[string]event.Constructs{task: tasks, "taskwait": waits}},
		{"nqueens", "10", map[string]event.Constructs{task: tasks, "taskwait": waits}},
		{"health", "100", map[string]event.Constructs{task: tasks, "lock": locks}},
		{"ua", "80", map[string]event.Constructs{"lock": locks}},
		{"contended", "10000000", map[string]event.Constructs{"lock": locks}},
		{"loop", "150000", map[string]event.Constructs{"lock": locks}},
	} {
		for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
			// libomp's waiters yield for ever on a busy machine.
			if b.compiler != "gcc" && tc.kind == "contended" {
				continue
			}
			t.Run(tc.kind+" "+b.compiler, func(t *testing.T) {
				bin := testbin.Build(t, "dense.c", b.options())
				severalTries(t, func() []string {
					s := clean(t, options{env: threadsEnv(2), flags: []string{"--max-overhead", "5%", "--sample", "off"}}, bin, tc.kind, tc.size)
					runs++
					if len(s.main.Meta.Observations) > 0 {
						storms++
					}
					return wrongSaid(t, s, tc.truth)
				})
			})
		}
	}
	// A program that has few of the cores it needs may stay within the budget.
	if storms < runs/2 {
		t.Errorf("in %d of %d programs all was observed: these were no storms", runs-storms, runs)
	}
}
