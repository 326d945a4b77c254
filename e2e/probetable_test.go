package e2e

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/collect/loops"
	"ompp-attach/internal/testbin"
	"ompp-attach/probes"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/openmp"
	"ompp-attach/probes/sites"
	"ompp-attach/symbols"
)

// probed is a line of the table: a case of testdata/programs/probed.c.
type probed struct {
	title, name string
	less        []string // cases whose hits are part of it and do not count
	n, base     int      // executions, on top of those that do not count
}

var probedCases = []probed{
	{title: "parallel, team of 2 (all hits of both)", name: "region", n: 40},
	{title: "parallel, team of 1", name: "region1", n: 40},
	{title: "parallel if(0)", name: "region0", n: 40},
	{title: "parallel for, static, team of 2 (all hits of both)", name: "combined", n: 40},
	{title: "for, static, both threads", name: "loop", n: 40},
	{title: "for, static, nowait, both threads", name: "loop_nowait", n: 40},
	{title: "for, dynamic, both threads", name: "dynamic", n: 40},
	{title: "for, dynamic, nowait, both threads", name: "nowait", n: 40},
	{title: "a chunk of a dynamic loop", name: "chunks", base: 2, n: 400},
	{title: "ordered block", name: "ordered", base: 2, n: 100},
	{title: "sections, 2, both threads", name: "sections", n: 40},
	{title: "single, both threads", name: "single", n: 40},
	{title: "single nowait, both threads", name: "single_nowait", n: 40},
	{title: "single copyprivate, both threads", name: "copyprivate", n: 40},
	{title: "barrier, both threads", name: "barrier", n: 40},
	{title: "master, both threads", name: "master", n: 40},
	{title: "critical, free", name: "critical", n: 40},
	{title: "critical, waited for", name: "critical_waits", less: []string{"region", "critical"}, n: 6},
	{title: "named critical, free", name: "named", n: 40},
	{title: "named critical, waited for", name: "named_waits", less: []string{"region", "named"}, n: 6},
	{title: "lock, set and unset, free", name: "locks", n: 40},
	{title: "lock, set and unset, waited for", name: "locks_wait", less: []string{"region", "locks"}, n: 6},
	{title: "lock, tested and unset", name: "tested", n: 40},
	{title: "nest lock, set and unset", name: "nested", n: 40},
	{title: "atomic by a call", name: "atomic", n: 40},
	{title: "flush", name: "flush", n: 40},
	{title: "taskwait", name: "taskwait", n: 40},
	{title: "task, deferred, and its taskwait", name: "task", n: 40},
	{title: "task if(0)", name: "taskif0", n: 40},
	{title: "taskgroup", name: "taskgroup", n: 40},
	{title: "taskyield", name: "taskyield", n: 40},
	{title: "taskloop, 2 tasks", name: "taskloop", n: 40},
}

// hitCounted is a running probed.c whose runtime's probes are counted.
type hitCounted struct {
	t       *testing.T
	stdin   io.Writer
	lines   *bufio.Scanner
	plan    *probes.Plan
	program *symbols.Object
	calls   int // the number of placements in the program, which come last
	count   *bpf.HitCounter
}

func startProbed(t *testing.T, b build, library string) *hitCounted {
	t.Helper()
	bin := testbin.Build(t, "probed.c", b.options())
	cmd := exec.Command(bin)
	cmd.Env = append(append(os.Environ(), threadsEnv(2)...), "OMP_WAIT_POLICY=passive")
	stdin, stdout := testbin.Talk(t, cmd)
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	g := &hitCounted{t: t, stdin: stdin, lines: bufio.NewScanner(stdout)}
	if !g.lines.Scan() || g.lines.Text() != "ready" {
		t.Fatalf("the program says %q", g.lines.Text())
	}
	path, lo, hi := mappedCode(t, cmd.Process.Pid, library)
	program, err := symbols.OpenObject(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	o, err := symbols.OpenObject(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	if g.plan, err = openmp.NewPlan(o, program.Imports); err != nil {
		t.Fatal(err)
	}
	g.program = program
	g.atCalls()
	if g.count, err = bpf.LoadHitCounter(len(g.plan.Placements), lo, hi); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.count.Close)
	in := map[string][]bpf.Point{}
	for n, pl := range g.plan.Placements {
		file := path
		if g.inProgram(n) {
			file = bin
		}
		in[file] = append(in[file], bpf.Point{Offset: pl.Offset, Row: uint32(n)})
	}
	for file, found := range in {
		link, err := g.count.Attach(file, cmd.Process.Pid, found)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { link.Close() })
	}
	return g
}

// atCalls makes the plan as `run` does for a program with calls of static loops that are all known.
// The probes at libomp's entry points of such loops go, and those at the calls come.
func (g *hitCounted) atCalls() {
	g.t.Helper()
	if calls := sites.Of(g.program); !loops.Divisible(g.plan) || calls.Open != "" || calls.Spared == 0 {
		return
	}
	at, err := loops.Plan(g.program, g.plan, func(uint64) bool { return false })
	if err != nil {
		g.t.Fatal(err)
	}
	g.plan.Placements = slices.DeleteFunc(g.plan.Placements, func(pl probes.Placement) bool { return sites.Entry(pl.Symbol) })
	g.plan.Placements = append(g.plan.Placements, at.Placements...)
	g.calls = len(at.Placements)
}

// inProgram tells whether a placement is in the program's own code.
func (g *hitCounted) inProgram(placement int) bool {
	return placement >= len(g.plan.Placements)-g.calls
}

// object returns the file of a placement.
func (g *hitCounted) object(placement int) *symbols.Object {
	if g.inProgram(placement) {
		return g.program
	}
	return g.plan.Object
}

// mappedCode finds where a process maps a library's code.
func mappedCode(t *testing.T, pid int, library string) (path string, lo, hi uint64) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) == 6 && strings.HasPrefix(filepath.Base(f[5]), library) && strings.Contains(f[1], "x") {
			if _, err := fmt.Sscanf(f[0], "%x-%x", &lo, &hi); err != nil {
				t.Fatal(err)
			}
			return f[5], lo, hi
		}
	}
	t.Fatalf("the program does not map %s", library)
	return "", 0, 0
}

// hit is a placement in a situation.
type hit struct {
	placement int
	bpf.Situation
}

// total returns what all placements have been hit so far.
func (g *hitCounted) total() map[hit]float64 {
	out := map[hit]float64{}
	for n := range g.plan.Placements {
		hits, err := g.count.Hits(uint32(n))
		if err != nil {
			g.t.Fatal(err)
		}
		for s, v := range hits {
			out[hit{n, s}] = float64(v)
		}
	}
	return out
}

// run returns what one execution of a case is hit.
func (g *hitCounted) run(c *probed) map[hit]float64 {
	g.t.Helper()
	out := map[hit]float64{}
	before := g.total()
	for _, times := range []int{c.base, c.base + c.n} {
		fmt.Fprintf(g.stdin, "%s %d\n", c.name, times)
		if !g.lines.Scan() || g.lines.Text() != "done" {
			g.t.Fatalf("%s: the program says %q", c.name, g.lines.Text())
		}
		after := g.total()
		sign := 1.0
		if times == c.base {
			sign = -1
		}
		for h, v := range after {
			out[h] += sign * (v - before[h]) / float64(c.n)
		}
		before = after
	}
	maps.DeleteFunc(out, func(_ hit, v float64) bool { return math.Abs(v) < 1e-6 })
	return out
}

// of returns the hits of a line of the table.
func (g *hitCounted) of(c probed) map[hit]float64 {
	out := g.run(&c)
	for _, less := range c.less {
		k := slices.IndexFunc(probedCases, func(o probed) bool { return o.name == less })
		for h, v := range g.run(&probedCases[k]) {
			out[h] -= v
		}
	}
	maps.DeleteFunc(out, func(_ hit, v float64) bool { return math.Abs(v) < 1e-6 })
	return out
}

// hitCost is what a hit costs: its place in the table's sums.
type hitCost int

const (
	costReturn  = hitCost(points.SingleStep) + 1
	costIgnored = costReturn + 1
)

func (c hitCost) String() string {
	switch c {
	case costReturn:
		return "return"
	case costIgnored:
		return "ignored"
	}
	return points.Cost(c).String()
}

// sums adds up hits by cost.
func (g *hitCounted) sums(hits map[hit]float64) map[hitCost]float64 {
	out := map[hitCost]float64{}
	for h, v := range hits {
		pl := &g.plan.Placements[h.placement]
		switch a := pl.At(h.Situation); {
		case !a.Reported && (pl.Cost == points.JumpCost || pl.Cost == points.Emulated):
			out[costIgnored] += v
		default:
			out[hitCost(pl.Cost)] += v
			if a.Return {
				out[costReturn] += v
			}
		}
	}
	return out
}

func sumText(sums map[hitCost]float64) string {
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(sums)) {
		if math.Abs(sums[c]) > 1e-6 {
			parts = append(parts, number(sums[c])+" "+c.String())
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func number(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }
