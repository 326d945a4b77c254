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

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
)

// TestTimeWithoutCore: threads that share one core with a program that is busy there
// tell how long they had none. The kernel's own account of each thread is the truth.
func TestTimeWithoutCore(t *testing.T) {
	needTool(t)
	hog := testbin.Build(t, "busy.c", testbin.Options{Flags: []string{"-O1"}})
	for i, c := range []struct {
		compiler string
		others   int
	}{{"gcc", 2}, {"clang-14", 1}} {
		t.Run(fmt.Sprintf("%s, %d others", c.compiler, c.others), func(t *testing.T) {
			t.Parallel() // each has a core of its own
			bin := testbin.Build(t, "starved.c", testbin.Options{Compiler: c.compiler, Flags: []string{"-O2", "-g"}})
			core := strconv.Itoa(i % runtime.NumCPU())
			for range c.others {
				other := exec.Command("taskset", "-c", core, hog, "600")
				if err := other.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
			}
			severalTries(t, func() []string {
				return checkStarved(t, clean(t, options{pinned: core, env: []string{"OMP_NUM_THREADS=2"}}, bin))
			})
		})
	}
}

// checkStarved returns which times are not those of the kernel's account. A processor that is away
// for a moment may change a time: behind the last look at the account, or while a thread waits.
func checkStarved(t *testing.T, s *session) (wrong []string) {
	t.Helper()
	const ms = 1000000
	truth, all := waitsOf(t, s.stdout), int64(0)
	var none [2]int64
	for _, st := range s.main.Nodes[0].Stats {
		if st.NoCore != nil {
			none[s.main.Threads[st.Thread].Num] = st.NoCore.Exec
		}
	}
	for i, want := range truth[:2] {
		all += want
		least := want - want/100 - 2*ms // a thread may keep less than a step to itself
		if i == 0 {
			least -= truth[2] // which it waited before measurement began, or not
		}
		// The truth was read before its end.
		if most := want + want/20 + 60*ms; none[i] < least || none[i] > most {
			wrong = append(wrong, fmt.Sprintf("thread %d: %d ms without a core, the kernel says %d", i, none[i]/ms, want/ms))
		}
	}
	// It is what regions lack: two threads and at least one other share a core.
	var c analysis.Classes
	var total int64
	for _, o := range analysis.Overheads(s.main) {
		c.Add(o.Classes)
		total += o.Total
	}
	if c.NoCore > total || c.Sum() > total {
		t.Errorf("%+v of %d ns in parallel regions", c, total)
	}
	if c.NoCore < total/4 {
		wrong = append(wrong, fmt.Sprintf("%+v of %d ns in parallel regions, %d without a core", c, total, all))
	}
	var inRegions [2]int64
	for i, n := range s.main.Nodes[1:] {
		for j, c := range analysis.Classify(s.main, i+1) {
			inRegions[s.main.Threads[n.Stats[j].Thread].Num] += c.NoCore
		}
	}
	for i, ns := range inRegions {
		if ns > none[i] {
			t.Errorf("thread %d: %d ms without a core in regions, %d ms in all", i, ns/ms, none[i]/ms)
		}
	}
	if p := analysis.Properties(s.main); len(p) == 0 || p[0].Name != analysis.WaitForCore {
		wrong = append(wrong, fmt.Sprintf("the first finding is not the lack of cores: %+v", p))
	}
	for _, n := range s.main.Nodes[1:] {
		for _, st := range n.Stats {
			w := st.NoCore
			if w == nil {
				continue
			}
			for p, part := range w.Parts() {
				if *part > st.Parts()[p].T {
					t.Errorf("%s: %+v without a core of %+v", s.main.Regions[n.Region].Construct, *w, st)
				}
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NoCore (%)", "Without Core", "'WaitForCore' holds for", "(its threads had a core for "} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	// Critical sections are folded but for those in which the thread lost its core.
	flat := analysis.Flat(s.main)
	for _, f := range flat {
		if s.main.Regions[f.Region].Construct == event.Critical && f.Sum.Exec.C != 2*10000 {
			t.Errorf("%d executions of the critical section, want %d", f.Sum.Exec.C, 2*10000)
		}
	}
	if lost := s.main.Meta.LostHits; lost != 0 {
		t.Errorf("%d hits were lost", lost)
	}
	return wrong
}

// waitsOf reads what the program printed: for each thread how long it waited for a core,
// and for the first how long before main, ns.
func waitsOf(t *testing.T, stdout string) (waits [3]int64) {
	t.Helper()
	if n, err := fmt.Sscan(stdout, &waits[0], &waits[1], &waits[2]); n != 3 {
		t.Fatalf("%v: %q", err, stdout)
	}
	return waits
}
