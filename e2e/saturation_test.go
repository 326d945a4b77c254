package e2e

import (
	"fmt"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// For seconds, two threads do nothing else than enter criticals, set locks, pass barriers, create
// and execute tasks. Nothing is lost, and the counts are those of the program.
func TestSaturationForSeconds(t *testing.T) {
	const seconds, threads = "1.5", "2"
	for _, compiler := range []string{"gcc", "clang-19"} {
		t.Run(compiler, func(t *testing.T) {
			bin := testbin.Build(t, "saturate.c", testbin.Options{Compiler: compiler})
			unlessOthersRun(t, upTo(3, func() []string {
				s := clean(t, options{}, bin, "each", seconds, threads)
				truth, err := testbin.ParseCounts(strings.NewReader(s.stdout))
				if err != nil {
					t.Fatal(err)
				}
				wrong := s.losses()
				if wrong == nil {
					saturated(t, s.main, truth)
				}
				for _, kind := range saturating {
					if n := truth.Total(kind.name); n < 10000 {
						wrong = append(wrong, fmt.Sprintf("%d executions of %s: the program did not get to work", n, kind.name))
					}
				}
				return wrong
			}))
		})
	}
}

// upTo makes an attempt again, up to so many times, while something is wrong. A hypervisor that
// takes a processor away for half a second makes one attempt lose hits: the rings hold the hits of
// a shorter time. A tool that reads too slowly loses hits in each attempt.
func upTo(times int, attempt func() (wrong []string)) func() []string {
	return func() (wrong []string) {
		for range times {
			if wrong = attempt(); len(wrong) == 0 {
				break
			}
		}
		return wrong
	}
}

// losses tells of lost hits.
func (s *session) losses() []string {
	if lost := s.main.Meta.LostHits; lost > 0 {
		return []string{fmt.Sprintf("%d of %d hits are lost", lost, lost+s.main.Meta.Hits)}
	}
	return nil
}

var saturating = []struct {
	name   string
	region func(*profile.Region) bool
}{
	{"critical", is(event.Critical)}, {"lock", is(event.Lock)},
	{"barrier", is(event.Barrier)}, {"task", is(event.Task)},
}

// saturated compares a profile without losses with what saturate.c counted.
func saturated(t *testing.T, p *profile.Profile, truth testbin.Counts) {
	t.Helper()
	complete(t, p)
	balanced(t, p)
	var checks []check
	for _, kind := range saturating {
		checks = append(checks, check{name: kind.name, got: count(p, execC, kind.region), want: sum(truth, named(kind.name))})
	}
	compare(t, checks)
	if tasks := count(p, execC, is(event.TaskExec)); tasks.total() != truth.Total("task") {
		t.Errorf("%d executions of tasks, %d were created", tasks.total(), truth.Total("task"))
	}
}
