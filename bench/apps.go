package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"ompp-attach/bench/baseline"
)

// app is a mini-app: a small real program of bench/programs that checks its
// result.
type app struct {
	name  string
	what  string
	modes []string // what a script has to see (see scripts)
}

var apps = []app{
	{"cg", "conjugate gradients: loops, reductions, singles", []string{"region", "static", "reduction", "single"}},
	{"jacobi", "stencil: parallel loops with reductions", []string{"region", "static", "reduction"}},
	{"sort", "quicksort and queens: tasks", []string{"region", "single", "task"}},
	{"particles", "particles in cells: locks, critical, dynamic loop", []string{"region", "static", "dynamic", "named", "critical", "lock"}},
	{"hydro", "30 small regions in a time step, as LULESH has", []string{"region", "static"}},
}

var hybrid = app{name: "halo", what: "stencil: halo exchange, Allreduce, parallel loops"}

// appCost is how long a mini-app works under each way, in s: the median of a turn's
// works, for what else the machine does only adds to some of them.
type appCost struct {
	app
	runtime   string
	seconds   *turns
	processor pairs
	works     int     // in a turn
	hits      float64 // BPF programs run per second of the bare program, all threads
	spans     spans
}

// A turn of a mini-app lasts at least so many seconds and works when nothing
// observes it. Programs that are worth a profile run for longer: what the first tenth
// of a second after an attach costs is little of that.
const (
	appTurn  = 0.8
	minWorks = 5
)

// turn lets a mini-app work as often as a turn is to.
func (c *appCost) turn(m *means, item int) (float64, error) {
	var all []float64
	for range c.works {
		s, err := turnOf(m, item)
		if err != nil {
			return 0, err
		}
		all = append(all, s)
	}
	return spreadOf(all).median, nil
}

// warmUp touches the memory of processes of a mini-app and starts their threads,
// and finds out how often the first of them works in a turn.
func (c *appCost) warmUp(ps ...*process) error {
	for _, p := range ps {
		if _, err := turnOf(&means{on: p}, 0); err != nil {
			return err
		}
	}
	s, err := turnOf(&means{on: ps[0]}, 0)
	if err != nil {
		return err
	}
	c.works = max(minWorks, int(math.Ceil(appTurn/s)))
	return nil
}

// constructs are what a script is written for.
func (a *app) constructs() (g group) {
	for _, mode := range a.modes {
		g = append(g, operation{mode: mode})
	}
	return g
}

// turnOf lets a mini-app work once, and checks what it says of its result.
func turnOf(m *means, _ int) (float64, error) {
	seconds, right, err := m.on.ask("work")
	if err == nil && right != 1 {
		err = errors.New("the result of the program is wrong")
	}
	return seconds, err
}

// measureApp measures a mini-app that one runtime and compiler made.
func measureApp(t target, a app, dir string) (*appCost, error) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", t.runtime, a.name)
	t, err := t.build(a.name+".c", dir)
	if err != nil {
		return nil, err
	}
	p, shimmed, err := t.startBoth(dir)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	defer shimmed.stop()
	c := &appCost{app: a, runtime: t.runtime}
	if err := c.warmUp(p, shimmed); err != nil {
		return nil, err
	}
	probe, err := baseline.Load()
	if err != nil {
		return nil, err
	}
	defer probe.Close()
	placed, err := c.countHits(p, dir)
	if err != nil {
		return nil, err
	}
	hit, err := baseline.Hit(placed, p.pid(), func() error { _, err := turnOf(&means{on: p}, 0); return err })
	if err != nil {
		return nil, err
	}
	by, undo, err := waysOf(p, shimmed, &t, a.constructs(), placed, hit, probe, dir)
	if err != nil {
		return nil, err
	}
	defer undo()
	by[perfTrace] = nil
	by[counting] = &means{on: p, begin: func() (func() error, error) {
		stop, _, err := attachTool(p.pid(), dir, "--counters", kernelCounters)
		return stop, err
	}}
	by[recording] = &means{on: p, begin: func() (func() error, error) { return c.spans.record(p.pid(), dir) }}
	if c.seconds, err = takeTurns(by, *rounds, 1, c.turn); err != nil {
		return nil, err
	}
	return c, c.measurePairs(by[bare], by[ours], t.binary)
}

// countHits lets the kernel count how often our programs run in a turn.
func (c *appCost) countHits(p *process, dir string) ([]baseline.Placed, error) {
	seconds, err := turnOf(&means{on: p}, 0)
	if err != nil {
		return nil, err
	}
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return nil, fmt.Errorf("let the kernel count how often programs run: %w", err)
	}
	defer stats.Close()
	return whatToolPlaces(p.pid(), dir, func(programs []ebpf.ProgramID) error {
		before, err := baseline.Runs(programs)
		if err != nil {
			return err
		}
		if _, err := turnOf(&means{on: p}, 0); err != nil {
			return err
		}
		after, err := baseline.Runs(programs)
		c.hits = float64(after-before) / seconds
		return err
	})
}

// ranks are the hybrid mini-app's: they and their threads have a core each, if
// there are two.
const ranks = 2

func hybridThreads() string { return strconv.Itoa(max(1, runtime.NumCPU()/ranks)) }

// mpirun starts the hybrid mini-app; environment is of the ranks only.
func (t *target) mpirun(environment ...string) *exec.Cmd {
	launcher := strings.Replace(t.compiler, "mpicc", "mpirun", 1)
	args := append([]string{"-n", strconv.Itoa(ranks), "env"}, environment...)
	cmd := exec.Command(launcher, append(args, t.binary)...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS="+hybridThreads(), "OMP_WAIT_POLICY=passive",
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
	return cmd
}

// measureHybrid measures the hybrid mini-app with all its ranks: two processes,
// so empty probes are left out, and there is a bpftrace for each.
func measureHybrid(t target, openmpShim, dir string) (*appCost, error) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", t.runtime, hybrid.name)
	t, err := t.build(hybrid.name+".c", dir, "-fopenmp")
	if err != nil {
		return nil, err
	}
	p, err := startProcess(t.mpirun())
	if err != nil {
		return nil, err
	}
	defer p.stop()
	// Counts are written nowhere.
	shimmed, err := startProcess(t.mpirun("LD_PRELOAD=" + t.shim + ":" + openmpShim))
	if err != nil {
		return nil, err
	}
	defer shimmed.stop()
	c := &appCost{app: hybrid, runtime: t.runtime}
	if err := c.warmUp(p, shimmed); err != nil {
		return nil, err
	}
	job := func(counters string) *means {
		return &means{on: p, begin: func() (func() error, error) {
			cmd := exec.Command(*tool, "attach", "--verbose", "--overwrite", "--counters", counters,
				"-o", filepath.Join(dir, "job"), "--job", strconv.Itoa(p.pid()))
			return startUntil(cmd, cmd.StderrPipe, attachedAndCalibrated())
		}}
	}
	by := [numWays]*means{bare: {on: p}, shim: {on: shimmed}, ours: job("none"), counting: job(kernelCounters)}
	if c.seconds, err = takeTurns(by, *rounds, 1, c.turn); err != nil {
		return nil, err
	}
	return c, c.measurePairs(by[bare], by[ours], t.binary)
}
