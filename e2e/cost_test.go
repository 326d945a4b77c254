package e2e

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/analysis"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// partNames are the parts of probeheavy.c, in the order of its lines.
var partNames = []string{"critical", "lock", "barrier", "region", "loop", "task"}

// ownClock runs probeheavy.c without the tool; ns by part.
func ownClock(t *testing.T, bin string, env, args []string) []float64 {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var ns []float64
	for _, f := range strings.Fields(string(out)) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		ns = append(ns, v)
	}
	if len(ns) != len(partNames) {
		t.Fatalf("it printed %q", out)
	}
	return ns
}

// byPart is what a profile says of the primary thread's time in each part's
// parallel region, in ns.
func byPart(t *testing.T, p *profile.Profile) []float64 {
	t.Helper()
	at := map[int]float64{} // by line
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 || !p.Regions[n.Region].Construct.IsParallel() {
			continue
		}
		for _, s := range n.Stats {
			if p.Threads[s.Thread].Num == 0 {
				at[p.Regions[n.Region].Location.Begin] += float64(s.Exec.T)
			}
		}
	}
	var lines []int
	for l := range at {
		lines = append(lines, l)
	}
	slices.Sort(lines)
	if len(lines) != len(partNames)+1 {
		t.Fatalf("parallel regions at lines %v", lines)
	}
	var ns []float64
	for _, l := range lines[1:] { // the first one only starts the threads
		ns = append(ns, at[l])
	}
	return ns
}

// middle are the medians of several runs: what was measured of a probe's cost
// errs to both sides.
func middle(runs [][]float64) []float64 {
	out := make([]float64, len(runs[0]))
	for i := range out {
		var of []float64
		for _, r := range runs {
			of = append(of, r[i])
		}
		slices.Sort(of)
		out[i] = (of[(len(of)-1)/2] + of[len(of)/2]) / 2
	}
	return out
}

// preferred lets what the test starts run before what else the machine does.
func preferred(t *testing.T) {
	runtime.LockOSThread() // priorities are threads', and inherited
	was, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err == nil {
		err = unix.Setpriority(unix.PRIO_PROCESS, 0, -15)
	}
	if err != nil {
		t.Logf("at the usual priority: %v", err)
	}
	t.Cleanup(func() {
		// The system call's answer is 20 less the priority.
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-was)
		runtime.UnlockOSThread()
	})
}

// heavier returns the arguments of probeheavy.c for the next attempt. If probes took more than
// three quarters of the program's own time, each construct gets more work, so that probes take
// about half of that time. There are fewer constructs then, so that the own time about doubles.
// Otherwise the arguments stay. The cost of a hit is known to a fourth or so (docs/overhead.md).
// Where hits took most of the time, the rest is mostly error, and tells nothing of how costs are
// taken out.
func heavier(constructs, work int, probes, own float64) (int, int) {
	const most, aim, fewest = 0.75, 0.5, 2000
	if probes <= most*own {
		return constructs, work
	}
	times := probes / (aim * own)
	return max(fewest, int(2*float64(constructs)/times)), int(times * float64(work))
}

// A program that spends a good part of its time in probes: without what these
// took, its times are those of runs without the tool. On one thread: where threads
// wait for each other, what the probes changed is not known.
func TestCostsTakenOut(t *testing.T) {
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			preferred(t)
			takenOut(t, testbin.Build(t, "probeheavy.c", b.options()))
		})
	}
}

func takenOut(t *testing.T, bin string) {
	const turns, attempts, within, heavy = 4, 10, 0.10, 1.10
	const known = 0.25 // the part of what hits took to which their cost is known (docs/overhead.md)
	const busy = 3     // attempts after which a machine that others use is no longer waited for
	env := threadsEnv(1)
	constructs, work := 20000, 12000
	var own, raw, adjusted [][]float64
	total := func(v []float64) (sum float64) {
		for _, ns := range v {
			sum += ns
		}
		return sum / 1e6
	}
	before := readMachine(t)
	for attempt := 1; ; attempt++ {
		args := []string{strconv.Itoa(constructs), strconv.Itoa(work)}
		for range turns {
			own = append(own, ownClock(t, bin, append(env, "LD_LIBRARY_PATH="+runtimes), args))
			p := clean(t, options{env: env, flags: []string{"--counters", "none", "--sample", "off"}}, bin, args...).main
			if p.Meta.Overhead == nil || p.Meta.Overhead.Failed != "" || p.Meta.Overhead.Total() == 0 {
				t.Fatalf("overhead: %+v", p.Meta.Overhead)
			}
			raw = append(raw, byPart(t, p))
			adjusted = append(adjusted, byPart(t, analysis.Adjust(p)))
		}
		o, r, a := middle(own), middle(raw), middle(adjusted)
		t.Logf("probeheavy %s:", strings.Join(args, " "))
		for i, name := range partNames {
			t.Logf("%-9s own %7.2f ms, measured %7.2f, without probes %7.2f (%+.1f%%)", name, o[i]/1e6, r[i]/1e6, a[i]/1e6, 100*(a[i]/o[i]-1))
		}
		off := total(a)/total(o) - 1
		t.Logf("total     own %7.2f ms, measured %7.2f, without probes %7.2f (%+.1f%%)", total(o), total(r), total(a), 100*off)
		if bound := max(within, known*(total(r)/total(o)-1)); total(r) > heavy*total(o) && math.Abs(off) < bound {
			return
		}
		const wrong = "the times without what the probes took are not those without probes, or the probes took too little to tell"
		if attempt == attempts || attempt >= busy && readMachine(t).busyWithOthers(before) {
			judged(t, before, wrong)
			return
		}
		if c, w := heavier(constructs, work, total(r)-total(o), total(o)); w != work {
			constructs, work = c, w
			own, raw, adjusted = nil, nil, nil
		}
	}
}
