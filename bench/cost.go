package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ompp-attach/bpf"
	"ompp-attach/probes"
)

// operation is what the target does over and over.
type operation struct {
	title   string
	mode    string
	threads int
	// free: libgomp takes its fast path, on which our probes take no return.
	free bool
	// counted: measured with counters, too.
	counted bool
}

var operations = []operation{
	{"critical, enter and leave", "critical", 1, true, true},
	{"lock, set and unset", "lock", 1, true, false},
	{"barrier, team of 1", "barrier", 1, false, false},
	{"barrier, team of 2", "barrier", 2, false, false},
	{"parallel region, team of 1", "region", 1, false, true},
	{"parallel region, team of 2", "region", 2, false, false},
}

// The configurations, in the order in which they take turns.
const (
	bare       = iota // no probe
	emptyEntry        // an empty probe at each of our points
	emptySame         // and at each return that ours report
	ours              // ompp-attach attach
	theirs            // the bpftrace script
	kernels           // ours with the kernel's four counters
	events            // ours with four perf events
	reads             // an empty probe at each of our points that reads them
	numConfigs
)

// cost are the nanoseconds per operation under each configuration.
type cost struct {
	runtime string
	op      operation
	ns      [numConfigs]spread
}

// spread is the middle and the range of repeated measurements.
type spread struct{ median, min, max float64 }

func spreadOf(v []float64) spread {
	slices.Sort(v)
	return spread{v[len(v)/2], v[0], v[len(v)-1]}
}

func measureCost(t target, op operation, dir string) (cost, error) {
	c := cost{runtime: t.runtime, op: op}
	p, err := t.start(&op)
	if err != nil {
		return c, err
	}
	defer p.stop()
	lib, err := p.library()
	if err != nil {
		return c, err
	}
	empty, err := bpf.LoadEmptyProbe()
	if err != nil {
		return c, err
	}
	defer empty.Close()
	plan, err := probes.NewPlan(lib.Object(), func(string) bool { return true })
	if err != nil {
		return c, err
	}
	var points []bpf.Point
	for _, pl := range plan.Placements {
		points = append(points, bpf.Point{Offset: pl.Offset, Return: pl.Return})
	}
	script, err := bpftraceScript(t.script, lib.HostPath, dir)
	if err != nil {
		return c, err
	}
	configs := emptyConfigs(p, lib.HostPath, empty, points, !(op.free && t.runtime == "libgomp"), dir)
	configs[theirs] = func() (func() error, error) { return startBpftrace(p.cmd.Process.Pid, script) }
	if op.counted {
		undo, err := countingConfigs(&configs, p, lib.HostPath, points, dir)
		if err != nil {
			return c, err
		}
		defer undo()
	}
	if err := takeTurns(&c, p, configs); err != nil {
		return c, err
	}
	// Free locks take tens of nanoseconds; a probe of someone else's on the same
	// function, filtered by process or not, would falsify every column.
	const suspicious = 500
	if op.free && c.ns[bare].median > suspicious {
		return c, fmt.Errorf("%.0f ns without a probe of ours: something else probes %s; end it first", c.ns[bare].median, lib.Path)
	}
	return c, nil
}

// configs are how each configuration is set up; what that returns undoes it.
type configs [numConfigs]func() (undo func() error, err error)

// emptyConfigs are all configurations but bpftrace's: points are ours, and
// returns says that our returns are probed.
func emptyConfigs(p *process, library string, empty *bpf.EmptyProbe, points []bpf.Point, returns bool, dir string) configs {
	pid := p.cmd.Process.Pid
	place := func(returns bool) func() (func() error, error) {
		return func() (func() error, error) {
			l, err := empty.Attach(library, pid, points, returns)
			if err != nil {
				return nil, err
			}
			return l.Close, nil
		}
	}
	return configs{
		bare:       func() (func() error, error) { return func() error { return nil }, nil },
		emptyEntry: place(false),
		emptySame:  place(returns),
		ours:       func() (func() error, error) { stop, _, err := attachTool(pid, dir); return stop, err },
	}
}

// takeTurns measures one operation under each configuration that there is.
func takeTurns(c *cost, p *process, configs configs) error {
	var all [numConfigs][]float64
	for round := range *rounds {
		for i := range numConfigs {
			k := (i + round) % numConfigs
			if configs[k] == nil {
				continue
			}
			undo, err := configs[k]()
			if err != nil {
				return err
			}
			ns, err := settled(p)
			if err = errors.Join(err, undo()); err != nil {
				return err
			}
			all[k] = append(all[k], ns)
		}
	}
	for k := range all {
		if len(all[k]) > 0 {
			c.ns[k] = spreadOf(all[k])
		}
	}
	return nil
}

// settled takes a short turn for the caches and then the turn that counts.
func settled(p *process) (float64, error) {
	if _, err := p.turn(*millis / 5); err != nil {
		return 0, err
	}
	return p.turn(*millis)
}

// attachTool attaches ompp-attach to a process and returns once it has.
func attachTool(pid int, dir string, flags ...string) (stop func() error, took time.Duration, err error) {
	begin := time.Now()
	args := []string{"attach", "--verbose", "--overwrite", "-o", filepath.Join(dir, "profile"), "--pid", strconv.Itoa(pid)}
	if !slices.Contains(flags, "--counters") {
		flags = append([]string{"--counters", "none"}, flags...)
	}
	cmd := exec.Command(*tool, append(args, flags...)...)
	stop, err = startUntil(cmd, cmd.StderrPipe, func(line string) bool { return strings.Contains(line, "attached to process") })
	return stop, time.Since(begin), err
}

func startBpftrace(pid int, script string) (func() error, error) {
	cmd := exec.Command("bpftrace", "-p", strconv.Itoa(pid), script)
	return startUntil(cmd, cmd.StdoutPipe, func(line string) bool { return strings.Contains(line, "attached") })
}

// startUntil starts a command and waits for a line that it prints. The
// function it returns interrupts the command and waits for its end.
func startUntil(cmd *exec.Cmd, pipe func() (io.ReadCloser, error), is func(string) bool) (func() error, error) {
	out, err := pipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var seen []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		seen = append(seen, lines.Text())
		if is(lines.Text()) {
			rest := make(chan []byte)
			go func() { b, _ := io.ReadAll(out); rest <- b }()
			return func() error { return interrupt(cmd, rest) }, nil
		}
	}
	err = cmd.Wait()
	return nil, fmt.Errorf("%s ended early: %v\n%s", cmd.Path, err, strings.Join(seen, "\n"))
}

// interrupt ends a command by SIGINT and waits for it; rest delivers what it
// still prints. bpftrace 0.17 at times overlooks a first signal.
func interrupt(cmd *exec.Cmd, rest <-chan []byte) error {
	const tries = 20
	for range tries {
		_ = cmd.Process.Signal(syscall.SIGINT)
		select {
		case text := <-rest:
			if err := cmd.Wait(); err != nil {
				return fmt.Errorf("%s: %w\n%s", cmd.Path, err, text)
			}
			return nil
		case <-time.After(time.Second):
		}
	}
	_ = cmd.Process.Kill()
	<-rest
	_ = cmd.Wait()
	return fmt.Errorf("%s does not end at SIGINT", cmd.Path)
}

func bpftraceScript(name, library, dir string) (string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, filepath.Base(name))
	return out, os.WriteFile(out, []byte(strings.ReplaceAll(string(b), "LIBRARY", library)), 0o644)
}

// attachTime is how long attaching lasts, from the start of the command until
// it says that it has attached, in ms.
type attachTime struct {
	runtime string
	ms      spread
}

func measureAttach(t target, dir string) (attachTime, error) {
	a := attachTime{runtime: t.runtime}
	p, err := t.start(&operations[0])
	if err != nil {
		return a, err
	}
	defer p.stop()
	var all []float64
	for range *rounds {
		stop, took, err := attachTool(p.cmd.Process.Pid, dir)
		if err != nil {
			return a, err
		}
		if err := stop(); err != nil {
			return a, err
		}
		all = append(all, float64(took)/1e6)
	}
	a.ms = spreadOf(all)
	return a, nil
}
