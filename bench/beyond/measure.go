package main

import (
	"bytes"
	"errors"
	"fmt"
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
	"ompp-attach/symbols"
)

// The columns, in the order in which they take turns.
const (
	bare = iota
	emptySame
	ours
	jumpBare
	jump
	lateBare
	late
	callbacks
	sums
	numColumns
)

// columns are named as docs/beyond-the-trap.md explains them.
var columns = [numColumns]struct{ title string }{
	{"bare"}, {"empty"}, {"ours"}, {"jump unprobed"}, {"jump"}, {"late unprobed"}, {"late"}, {"OMPT"}, {"sums"},
}

// configuration is a process and how it is probed; what place returns takes the
// probes away.
type configuration struct {
	p     *process
	place func() (undo func() error, err error)
}

func measure(t target, op operation, dir string) (ns [numColumns]spread, err error) {
	empty, err := bpf.LoadEmptyProbe()
	if err != nil {
		return ns, err
	}
	defer empty.Close()
	configs, stop, err := configurations(t, op, empty, dir)
	defer stop()
	if err != nil {
		return ns, err
	}
	var all [numColumns][]float64
	for round := range *rounds {
		for i := range configs {
			k := (i + round) % len(configs)
			c := configs[k]
			if c.p == nil {
				continue
			}
			undo, err := c.place()
			if err != nil {
				return ns, err
			}
			_, err = c.p.turn(*millis / 5) // for the caches, and for the kernel to rewrite the nops
			got := 0.0
			if err == nil {
				got, err = c.p.turn(*millis)
			}
			if err = errors.Join(err, undo()); err != nil {
				return ns, err
			}
			all[k] = append(all[k], got)
		}
	}
	for k, v := range all {
		if ns[k].none = len(v) == 0; !ns[k].none {
			slices.Sort(v)
			ns[k] = spread{median: v[len(v)/2], min: v[0], max: v[len(v)-1]}
		}
	}
	return ns, nil
}

// configurations starts the processes that an operation is measured in.
func configurations(t target, op operation, empty *bpf.EmptyProbe, dir string) (c [numColumns]configuration, stop func(), err error) {
	var started []*process
	stop = func() {
		for _, p := range started {
			_ = p.stop()
		}
	}
	start := func(variable, file string) *process {
		p, e := t.start(op, variable, file)
		if e != nil {
			err = errors.Join(err, e)
			return nil
		}
		started = append(started, p)
		return p
	}
	plain, jumping, lateOne, summing := start("", ""), start("LD_PRELOAD", t.jump), start("LD_PRELOAD", t.late), start("LD_PRELOAD", t.sums)
	var told *process
	if t.tool != "" {
		told = start("OMP_TOOL_LIBRARIES", t.tool)
	}
	if err != nil {
		return c, stop, err
	}
	nothing := func() (func() error, error) { return func() error { return nil }, nil }
	plan, err := probes.NewPlan(plain.runtime.Object(), func(string) bool { return true })
	if err != nil {
		return c, stop, err
	}
	place := func(p *process, at *symbols.Module, points []bpf.Point, more ...bpf.Point) func() (func() error, error) {
		return func() (func() error, error) {
			l, err := empty.Attach(at.HostPath, p.cmd.Process.Pid, points, true)
			if err != nil || len(more) == 0 {
				return func() error { return l.Close() }, err
			}
			m, err := empty.Attach(p.runtime.HostPath, p.cmd.Process.Pid, more, true)
			if err != nil {
				return nil, errors.Join(err, l.Close())
			}
			return func() error { return errors.Join(l.Close(), m.Close()) }, nil
		}
	}
	all, _ := divide(plan, nil, false)
	if op.free && t.runtime == "libgomp" {
		for i := range all {
			all[i].Return = false
		}
	}
	c[bare] = configuration{plain, nothing}
	c[emptySame] = configuration{plain, place(plain, plain.runtime, all)}
	c[ours] = configuration{plain, func() (func() error, error) { return attach(plain.cmd.Process.Pid, dir) }}
	for k, p := range map[int]*process{jump: jumping, late: lateOne} {
		rest, own := divide(plan, p.added.Object(), k == late)
		c[k] = configuration{p, place(p, p.added, own, rest...)}
	}
	c[jumpBare], c[lateBare] = configuration{jumping, nothing}, configuration{lateOne, nothing}
	if op.mode != "task" { // which sums.c does not know
		c[sums] = configuration{summing, nothing}
	}
	if told != nil {
		var points []bpf.Point
		o := told.added.Object()
		for _, name := range []string{"on_acquire", "on_acquired", "on_released", "on_sync", "on_create", "on_schedule"} {
			p, ok := nop(o, name)
			if !ok {
				return c, stop, fmt.Errorf("%s has no %s to probe", t.tool, name)
			}
			points = append(points, p)
		}
		c[callbacks] = configuration{told, place(told, told.added, points)}
	}
	return c, stop, nil
}

// divide says which of a plan's probes stay in the runtime and which go to the
// stub, at whose late nops one hit tells of both ends.
func divide(plan *probes.Plan, stub *symbols.Object, late bool) (rest, own []bpf.Point) {
	for _, pl := range plan.Placements {
		if stub != nil {
			if p, ok := nop(stub, pl.Symbol); ok {
				p.Return = pl.Return && !late
				own = append(own, p)
				continue
			}
		}
		rest = append(rest, bpf.Point{Offset: pl.Offset, Return: pl.Return})
	}
	return rest, own
}

// nop finds the nop of 5 bytes in a function of a file.
func nop(o *symbols.Object, name string) (bpf.Point, bool) {
	const longest = 128 // of the stubs' functions
	for _, entry := range o.Symbol(name) {
		if n := bytes.Index(o.Read(entry, longest), []byte{0x0f, 0x1f, 0x44, 0, 0}); n >= 0 {
			off, ok := o.FileOffset(entry + uint64(n))
			return bpf.Point{Offset: off}, ok
		}
	}
	return bpf.Point{}, false
}

// attach attaches ompp-attach to a process; what it returns ends that.
func attach(pid int, dir string) (stop func() error, err error) {
	cmd := exec.Command(*tool, "attach", "--verbose", "--overwrite", "--counters", "none", "-o", filepath.Join(dir, "profile"), "--pid", strconv.Itoa(pid))
	log, err := os.CreateTemp(dir, "log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(text), "attached to process") {
			break
		}
		select {
		case err := <-ended:
			return nil, fmt.Errorf("%s ended early: %v\n%s", *tool, err, text)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return func() error {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			return err
		}
		return <-ended
	}, nil
}
