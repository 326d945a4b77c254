package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// With counters, folded executions have theirs; most tests do without.
var folding, streaming = []string{"--counters", "none"}, []string{"--counters", "none", "--trace"}

// countsByPath are a profile's counts by path and thread.
func countsByPath(p *profile.Profile) map[string]string {
	out := map[string]string{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 {
			continue
		}
		for _, s := range n.Stats {
			th := p.Threads[s.Thread]
			out[fmt.Sprintf("%s %d:%d", path(p, i), th.Root, th.Num)] = fmt.Sprintf("exec %d enter %d body %d barrier %d", s.Exec.C, s.Enter.C, s.Body.C, s.Barrier.C)
		}
	}
	return out
}

// Criticals and locks nest, overlap, and are left in all ways. Folded, they count as when each hit
// is told by itself, and as they were made to.
func TestFolded(t *testing.T) {
	atOnce(t)
	const n = 40
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}, {"clang-14", "-O0 -g"}, {"gcc", "-O2 -g -static"}} {
		for _, mode := range []string{"session", "multi"} {
			for _, end := range []string{"return", "_exit", "kill"} {
				if mode == "multi" && end != "_exit" {
					continue
				}
				t.Run(strings.Join([]string{b.String(), mode, end}, " "), func(t *testing.T) {
					t.Parallel()
					bin := testbin.Build(t, "folds.c", b.options())
					measured := func(flags []string) *profile.Profile {
						s := run(t, options{flags: append([]string{"--attach-mode", mode}, flags...)}, bin, strconv.Itoa(n), "0", end)
						if want := map[string]int{"kill": 128 + 9}[end]; s.exit != want || s.main == nil {
							t.Fatalf("exit status %d, want %d: %s", s.exit, want, s.stderr)
						}
						return s.main
					}
					folded, streamed := measured(folding), measured(streaming)
					var counted *profile.Profile
					severalTries(t, func() []string {
						counted = measured([]string{"--counters", "task-clock,page-faults"})
						return clockCounted(t, counted)
					})
					complete(t, folded)
					balanced(t, folded)
					if d := cmp.Diff(countsByPath(streamed), countsByPath(folded)); d != "" {
						t.Errorf("-streamed +folded\n%s", d)
					}
					if d := cmp.Diff(countsByPath(streamed), countsByPath(counted)); d != "" {
						t.Errorf("-streamed +folded, with counters\n%s", d)
					}
					twice := func(n uint64) perThread { return perThread{0: n, 1: n} }
					locks := count(folded, execC, is(event.Lock))
					compare(t, []check{
						{name: "CRITICAL", got: count(folded, execC, is(event.Critical)), want: twice(n + n/8)},
						{name: "NEST LOCK", got: count(folded, execC, is(event.NestLock)), want: twice(2 * n)},
						{name: "ORDERED", got: count(folded, execC, is(event.Ordered)), want: perThread{0: 2 * n}, totals: true},
						{name: "LOCK of both threads, and outside", got: perThread{0: locks.total()}, want: perThread{0: 2*(3*n+3) + 2*n}},
					})
				})
			}
		}
	}
}

// Every construct, by the counts of the in-process tools.
func TestFoldedConstructs(t *testing.T) {
	atOnce(t)
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) { constructCounts(t, b, 4, folding...) })
	}
}

// Attached in the middle of a storm, paused, and detached in its middle: nothing
// is there twice, and no time is in two places.
func TestFoldedInTheMiddle(t *testing.T) {
	atOnce(t)
	needTool(t)
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		for _, flags := range [][]string{folding, {"--counters", "none", "--sample", "task-clock"}} {
			t.Run(b.String()+" "+strings.Join(flags, " "), func(t *testing.T) {
				tg := launch(t, testbin.Build(t, "folds.c", b.options()), "10", aLongTime)
				tg.computes(t, 200*time.Millisecond)
				var p *profile.Profile
				longEnough(func(times int) bool {
					s := start(t, append([]string{"attach", "--pid", strconv.Itoa(tg.pid())}, flags...)...)
					pauseSoon(t, tg.pid())
					if status, text := control(t, "resume", tg.pid()); status != 0 {
						t.Errorf("resume: exit status %d, %q", status, text)
					}
					tg.placed(t)
					tg.computes(t, 300*time.Millisecond*time.Duration(times))
					_ = s.cmd.Process.Signal(os.Interrupt)
					p = s.profile(t)
					// On a busy machine the rings may be full before constructs are folded.
					return p.Meta.LostHits == 0 && count(p, execC, is(event.Critical)).total() > 0
				})
				balanced(t, p)
				if m := p.Meta; m.LostHits != 0 || m.Unmatched > 8 {
					t.Errorf("lost %d, unmatched %d", m.LostHits, m.Unmatched)
				}
				critical, lock := count(p, execC, is(event.Critical)).total(), count(p, execC, is(event.Lock)).total()
				// One after the other: only at the borders is there one more of one of them.
				if critical == 0 || max(critical, lock)-min(critical, lock) > 8 {
					t.Errorf("%d criticals, %d locks", critical, lock)
				}
				// The place of a call is unknown if its probe was taken away while a thread waited
				// in it, and its return was not seen. That is so for two threads, at the pause and
				// at the end.
				for i, r := range p.Regions {
					known := r.Location.Function == "storm"
					if n := count(p, execC, func(other *profile.Region) bool { return other == &p.Regions[i] }).total(); is(event.Critical, event.Lock)(&r) && !known && (r.Location.Object != "" || n > 2*2) {
						t.Errorf("%s at %+v, %d times", r.Construct, r.Location, n)
					}
				}
				for i := range p.Nodes {
					for _, st := range p.Nodes[i].Stats {
						if p.Nodes[i].Region >= 0 && st.Child > st.Exec.T {
							t.Errorf("%s: %d ns in regions inside of %d ns", path(p, i), st.Child, st.Exec.T)
						}
					}
				}
				tg.untouched(t)
				if t.Failed() {
					t.Log(dump(p))
				}
			})
		}
	}
}

// computes waits until a target has used more of the processors.
func (tg *target) computes(t *testing.T, more time.Duration) {
	t.Helper()
	enough := cpuOf(t, tg.pid()) + more
	until(t, fmt.Sprintf("the target has computed for %s", more), func() bool { return cpuOf(t, tg.pid()) >= enough })
}

// clockCounted compares the threads' own clocks in criticals and locks with the time spent there: a
// thread cannot have run for longer, and was counted. An interrupt between the reading of two
// clocks may make a time wrong. It does so seldom, and a fault does each time.
func clockCounted(t *testing.T, p *profile.Profile) (wrong []string) {
	t.Helper()
	clock := slices.IndexFunc(p.Meta.Counters, func(c profile.Counter) bool { return c.Name == "task-clock" })
	if clock < 0 {
		t.Fatal("task-clock was not counted")
	}
	ran := false
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 || !is(event.Critical, event.Lock, event.NestLock, event.Ordered)(&p.Regions[n.Region]) {
			continue
		}
		for _, s := range n.Stats {
			if s.Exec.C == 0 || s.Uncounted > 0 {
				continue
			}
			const slack = 1000 // ns an execution, of clocks read one after the other
			if len(s.Counters) <= clock || s.Counters[clock] < 0 || s.Counters[clock] > s.Exec.T+int64(s.Exec.C)*slack || s.Counters[clock] < s.ChildCounters[clock] {
				wrong = append(wrong, fmt.Sprintf("%s thread %d: counted %v, %v of it in child regions, in %d ns and %d executions", path(p, i), p.Threads[s.Thread].Num, s.Counters, s.ChildCounters, s.Exec.T, s.Exec.C))
				continue
			}
			ran = ran || s.Counters[clock] > s.Exec.T/2
		}
	}
	if !ran {
		wrong = append(wrong, "no thread ran in any critical or lock")
	}
	return wrong
}
