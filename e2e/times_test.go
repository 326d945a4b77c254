package e2e

import (
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

const (
	timedThreads = 4
	timedUnit    = 30 // ms: D of timed.c
	// A figure may be off by 5 %, or by this much: a sleeping thread comes
	// back late on a machine that others use too.
	tolerance      = 0.05
	allowanceMS    = 1.5
	startAllowance = 40 // ms that a process takes besides, to start and end
)

// expectation is a line of `timed --expect`.
type expectation struct {
	construct, column, thread string
	ms                        float64
}

func expectations(t *testing.T, bin, name string) []expectation {
	t.Helper()
	out, err := exec.Command(bin, "--expect", name, strconv.Itoa(timedThreads), strconv.Itoa(timedUnit)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var xs []expectation
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("expectation %q", line)
		}
		ms, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		xs = append(xs, expectation{f[0], f[1], f[2], ms})
	}
	return xs
}

var columns = map[string]func(*profile.ThreadStats) int64{
	"execT":    func(s *profile.ThreadStats) int64 { return s.Exec.T },
	"enterT":   func(s *profile.ThreadStats) int64 { return s.Enter.T },
	"bodyT":    func(s *profile.ThreadStats) int64 { return s.Body.T },
	"singleT":  func(s *profile.ThreadStats) int64 { return s.Body.T },
	"sectT":    func(s *profile.ThreadStats) int64 { return s.Body.T },
	"exitBarT": func(s *profile.ThreadStats) int64 { return s.Barrier.T },
	"taskT":    func(s *profile.ThreadStats) int64 { return s.Task },
	"exitT":    func(s *profile.ThreadStats) int64 { return s.Exit.T },
}

// measured returns a column's times in ms by thread number, and whether the
// construct occurs.
func measured(p *profile.Profile, construct, column string) (ms map[string]float64, ok bool) {
	ms = map[string]float64{}
	nested := strings.Contains(construct, ">")
	c, known := event.ParseConstruct(construct[strings.LastIndex(construct, ">")+1:])
	if !known {
		return nil, false
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 || p.Regions[n.Region].Construct != c || c == event.Parallel && (n.Parent != 0) != nested {
			continue
		}
		ok = true
		for j := range n.Stats {
			v := float64(columns[column](&n.Stats[j])) / 1e6
			ms[strconv.Itoa(p.Threads[n.Stats[j].Thread].Num)] += v
			ms["SUM"] += v
		}
	}
	return ms, ok
}

// wrongTimes lists the figures that are not as expected. What is late makes others
// late that wait for it, one after the other.
func wrongTimes(p *profile.Profile, xs []expectation, runtime string, late time.Duration) []string {
	var wrong []string
	lateMS := timedThreads * float64(late) / 1e6
	for _, x := range xs {
		if x.construct == "PROGRAM" {
			if got := float64(p.Meta.Duration) / 1e6; got < x.ms || got > x.ms*(1+tolerance)+startAllowance+lateMS {
				wrong = append(wrong, fmt.Sprintf("PROGRAM %s: %.2f ms, want %.2f", x.column, got, x.ms))
			}
			continue
		}
		if x.construct == event.Master.String() && runtime == "gcc" {
			continue // makes no call that could be seen
		}
		got, ok := measured(p, x.construct, x.column)
		if !ok {
			wrong = append(wrong, fmt.Sprintf("no %s", x.construct))
			continue
		}
		off := allowanceMS + lateMS
		if x.thread == "SUM" {
			off *= timedThreads
		}
		if d := math.Abs(got[x.thread] - x.ms); d > max(tolerance*x.ms, off) {
			wrong = append(wrong, fmt.Sprintf("%s %s thread %s: %.2f ms, want %.2f", x.construct, x.column, x.thread, got[x.thread], x.ms))
		}
	}
	return wrong
}

// Work and waiting are known by construction: every column of every thread.
func TestTimes(t *testing.T) {
	cases := []string{"imbalance", "static", "loop", "critical", "named", "lock", "nestlock", "ordered", "barrier",
		"single", "master", "sections", "psections", "nested", "serial", "tasks", "taskwait"}
	if testing.Short() {
		cases = []string{"imbalance", "critical", "sections"}
	}
	for _, compiler := range []string{"gcc", "clang-19"} {
		for _, name := range cases {
			t.Run(compiler+" "+name, func(t *testing.T) {
				bin := testbin.Build(t, "timed.c", testbin.Options{Compiler: compiler})
				xs := expectations(t, bin, name)
				timed(t, func() func(time.Duration) []string {
					// Only sleeping waiters of libgomp are served in order.
					s := clean(t, options{env: []string{"OMP_WAIT_POLICY=passive"}}, bin, name, strconv.Itoa(timedThreads), strconv.Itoa(timedUnit))
					complete(t, s.main)
					balanced(t, s.main)
					return func(late time.Duration) []string { return wrongTimes(s.main, xs, compiler, late) }
				})
			})
		}
	}
}
