package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// crowded is the processor that programs share. It is the last one, since on the first a virtual
// machine's devices and the kernel's grace periods have to go on.
var crowded = strconv.Itoa(runtime.NumCPU() - 1)

// countedRegions are the flat figures of busy.c, by the number in its comments.
func countedRegions(p *profile.Profile) map[int]map[int]*profile.ThreadStats {
	out, parallel := map[int]map[int]*profile.ThreadStats{}, 0
	for _, b := range analysis.Flat(p) {
		n := 3
		if p.Regions[b.Region].Construct != event.Critical {
			n = []int{1, 2, 4}[parallel]
			parallel++
		}
		out[n] = map[int]*profile.ThreadStats{}
		for i := range b.Rows {
			out[n][p.Threads[b.Rows[i].Thread].Num] = &b.Rows[i].ThreadStats
		}
	}
	return out
}

// TestCounters: what a thread's counters say in each region is known, although
// all threads share one core with another program that is busy there.
func TestCounters(t *testing.T) {
	needTool(t)
	bin := testbin.Build(t, "busy.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	for _, mode := range []string{"session", "perf"} {
		var s *session
		timed(t, func() func(time.Duration) []string {
			defer besides(t, bin)()
			s = clean(t, options{pinned: crowded, env: []string{"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0"},
				// Of single probes the kernel takes one away after the other, of which each waits
				// for all processors (perf_uprobe_destroy, synchronize_rcu_tasks_trace):
				// few are fast.
				flags: []string{"--attach-mode", mode, "--only", "critical", "--counters", "task-clock,page-faults,context-switches", "--eval", "MS=task-clock/1e6"}}, bin)
			return func(late time.Duration) []string { return checkBusy(t, s.main, int64(late)) }
		})
		b, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, want := range []string{"Used Counters   : 3\n", "OMPP_CTR1       : task-clock (ns)\n", "OMPP_EVAL1      : MS=task-clock/1e6\n", "         task-clock        page-faults   context-switches           MS         CPUs\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the report lacks %q:\n%s", mode, want, text)
			}
		}
	}
}

// besides runs another busy program on the crowded processor, until the function is called that it
// returns, but for 30 s at most. Linux 6.18 was seen to let all other threads of a processor wait
// for minutes, the kernel's workers among them, while one program computed there ("workqueue
// lockup" in the kernel's log). The tool waits for grace periods then, and these for the workers.
func besides(t *testing.T, bin string) (end func()) {
	t.Helper()
	other := exec.Command("taskset", "-c", crowded, bin, "30")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	return func() { _ = other.Process.Kill(); _ = other.Wait() }
}

// The program works until a clock says so. On a virtual machine that is not given its processor,
// this clock goes on. wrong says which figures are not as they should be, but for what is late.
func checkBusy(t *testing.T, p *profile.Profile, late int64) (wrong []string) {
	t.Helper()
	regions := countedRegions(p)
	within := func(what string, got, least, most int64) {
		t.Helper()
		if got < least || got > most {
			wrong = append(wrong, fmt.Sprintf("%s: %d, want %d to %d", what, got, least, most))
		}
	}
	// The program's own clock ends and begins at other moments of a switch than ours (1 % and 20 us
	// a switch below). The threads switch every few ms: a lost slice is found. The rest of the
	// region takes time, too.
	const ms, clock, faults, switches = 1_000_000, 0, 1, 2
	const lost = 20_000
	for n, threads := range map[int]int{1: 2, 2: 2, 3: 2, 4: 3} {
		for thread := range threads {
			s := regions[n][thread]
			if s == nil || len(s.Counters) != 3 || s.Uncounted > 0 {
				t.Fatalf("region %d, thread %d: %+v", n, thread, s)
			}
			least := func(of int64) int64 { return of*ms*99/100 - lost*s.Counters[switches] }
			name := func(c string) string { return fmt.Sprintf("region %d, thread %d: %s", n, thread, c) }
			switch n {
			case 1:
				within(name("page faults"), s.Counters[faults], int64(1000*(thread+1)), int64(1000*(thread+1))+50)
			case 2:
				within(name("task-clock"), s.Counters[clock], least(int64(50+150*thread)), int64(55+160*thread)*ms+late)
			case 3:
				within(name("task-clock"), s.Counters[clock], least(50), 55*ms+late)
			case 4:
				within(name("task-clock"), s.Counters[clock], least(100), 108*ms+late)
			}
			if s.Counters[clock] > s.Exec.T {
				t.Errorf("%d ns on a processor in %d", s.Counters[clock], s.Exec.T)
			}
		}
	}
	return wrong
}

// TestCounterOfCPU: a perf event that counts whatever runs on a core is a single
// thread's, too. The time-stamp counter is one that virtual machines have.
func TestCounterOfCPU(t *testing.T) {
	needTool(t)
	bin := testbin.Build(t, "busy.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	unlessOthersRun(t, func() []string { return countersOfCPU(t, bin) })
}

func countersOfCPU(t *testing.T, bin string) (wrong []string) {
	t.Helper()
	other := exec.Command("taskset", "-c", crowded, bin, "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	// The time of a process that was waited for counts as the test's.
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	s := clean(t, options{pinned: crowded, env: []string{"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0"},
		flags: []string{"--counters", "msr/tsc/,task-clock,cycles:u"}}, bin)
	if why := s.main.Meta.Counters[0].Failed; why != "" {
		t.Skip(why)
	}
	var low, high float64
	compared := 0
	for _, threads := range countedRegions(s.main) {
		for _, c := range threads {
			if c.Uncounted > 0 || c.Counters[1] < 40e6 { // the kernel did not tell of a switch
				continue
			}
			rate := float64(c.Counters[0]) / float64(c.Counters[1])
			if compared++; compared == 1 {
				low, high = rate, rate
			}
			low, high = min(low, rate), max(high, rate)
		}
	}
	if compared < 3 || high > 1.01*low {
		wrong = append(wrong, fmt.Sprintf("%d threads' time-stamp counters advanced by %.3f to %.3f for each ns on the processor", compared, low, high))
	}
	return wrong
}

// TestCountersRefused: bad input ends before anything is measured, by one sentence
// that says what to do.
func TestCountersRefused(t *testing.T) {
	atOnce(t)
	needTool(t)
	for flags, want := range map[string]string{
		"--counters cycels":                                "do you mean cycles?",
		"--counters r1,r2,r3,r4,r5,r6,r7,r8,r9":            "at most 8 can be read at once",
		"--counters task-clock --eval X=cycels/task-clock": "cycels, which is not counted",
		"--counters task-clock --eval X=task-clock/0":      "divides by zero",
		"--counters page-faults:u":                         "without telling the modes apart",
		"--counters none --eval IPC=instructions/cycles":   "instructions, which is not counted",
	} {
		s := run(t, options{flags: strings.Fields(flags)}, "/bin/true")
		if s.exit != 2 || strings.Count(s.stderr, "\n") != 1 || !strings.Contains(s.stderr, want) {
			t.Errorf("%s: exit status %d, %q; want %q", flags, s.exit, s.stderr, want)
		}
	}
}
