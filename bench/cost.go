package main

import (
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"ompp-attach/bench/baseline"
)

// costs are what the operations of one group cost under each way, in ns.
type costs struct {
	runtime string
	ops     group
	ns      *turns
	hits    []hits
}

// hits are how often BPF programs run per operation: ours, and the empty ones
// that stand in for them. If they differ, so do the probes.
type hits struct{ ours, empty float64 }

// measureGroup measures the operations of a group on one process.
func measureGroup(t target, g group, dir string) (*costs, error) {
	ops := g.of(&t)
	if len(ops) == 0 {
		return nil, nil
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", t.runtime, ops.titles())
	p, shimmed, err := t.startBoth(dir)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	defer shimmed.stop()

	probe, err := baseline.Load()
	if err != nil {
		return nil, err
	}
	defer probe.Close()
	c := &costs{runtime: t.runtime, ops: ops}
	placed, err := c.countHits(p, probe, dir)
	if err != nil {
		return nil, err
	}
	hit, err := baseline.Hit(placed, p.pid(), func() error {
		return c.perform(p, func(int, float64) error { return nil })
	})
	if err != nil {
		return nil, err
	}
	by, undo, err := waysOf(p, shimmed, &t, ops, placed, hit, probe, dir)
	if err != nil {
		return nil, err
	}
	defer undo()
	c.ns, err = takeTurns(by, fewer(), len(ops), func(m *means, item int) (float64, error) {
		return settled(m.on, &ops[item])
	})
	if err != nil {
		return nil, err
	}
	return c, c.undisturbed()
}

// undisturbed reports probes of someone else's. Free locks take tens of
// nanoseconds; a probe on the same function, filtered by process or not, would
// falsify every column.
func (c *costs) undisturbed() error {
	const suspicious = 500
	for i, op := range c.ops {
		if s, ok := c.ns.of(bare, i); ok && op.mode == "lock" && op.threads == 1 && s.median > suspicious {
			return fmt.Errorf("%.0f ns without a probe of ours: something else probes %s; end it first", s.median, c.runtime)
		}
	}
	return nil
}

// settled takes a short turn for the caches and then the turn that counts.
func settled(p *process, op *operation) (float64, error) {
	if _, _, err := p.perform(op, *millis/5); err != nil {
		return 0, err
	}
	ns, _, err := p.perform(op, *millis)
	return ns, err
}

// countHits lets the kernel count how often the programs run, ours and then the
// empty ones at the same places, and returns these.
func (c *costs) countHits(p *process, probe *baseline.Probe, dir string) ([]baseline.Placed, error) {
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return nil, fmt.Errorf("let the kernel count how often programs run: %w", err)
	}
	defer stats.Close()
	c.hits = make([]hits, len(c.ops))
	placed, err := whatToolPlaces(p.pid(), dir, func(programs []ebpf.ProgramID) error {
		return c.perOperation(p, programs, func(i int, n float64) { c.hits[i].ours = n })
	})
	if err != nil {
		return nil, err
	}
	l, err := probe.AttachLike(placed, p.pid())
	if err != nil {
		return nil, err
	}
	defer l.Close()
	programs, err := probe.Programs()
	if err != nil {
		return nil, err
	}
	return placed, c.perOperation(p, programs, func(i int, n float64) { c.hits[i].empty = n })
}

func (c *costs) perOperation(p *process, programs []ebpf.ProgramID, note func(int, float64)) error {
	before, err := baseline.Runs(programs)
	if err != nil {
		return err
	}
	return c.perform(p, func(i int, n float64) error {
		after, err := baseline.Runs(programs)
		note(i, float64(after-before)/n)
		before = after
		return err
	})
}

// perform performs each operation for a while, and tells how often.
func (c *costs) perform(p *process, each func(i int, n float64) error) error {
	for i := range c.ops {
		_, n, err := p.perform(&c.ops[i], max(*millis/3, 20))
		if err == nil {
			err = each(i, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// waysOf are the ways that there are for a process. placed are the probes that
// ours places, hit those that the process reaches: perf, which takes them one by
// one and some 40 ms for each, gets no others.
func waysOf(p, shimmed *process, t *target, ops group, placed, hit []baseline.Placed, probe *baseline.Probe, dir string) (by [numWays]*means, undo func(), err error) {
	by[bare] = &means{on: p}
	by[shim] = &means{on: shimmed}
	by[empty] = &means{on: p, begin: func() (func() error, error) {
		l, err := probe.AttachLike(placed, p.pid())
		if err != nil {
			return nil, err
		}
		return l.Close, nil
	}}
	by[ours] = &means{on: p, begin: func() (func() error, error) {
		stop, _, err := attachTool(p.pid(), dir)
		return stop, err
	}}
	undo = func() {}
	if text := bpftraceScript(t.runtime, ops, placed); text != "" && have("bpftrace") {
		by[script] = &means{on: p, begin: func() (func() error, error) { return startBpftrace(p.pid(), text) }}
	}
	if have("perf") {
		remove, err := addPerf(&by, p, hit)
		if err != nil {
			return by, nil, err
		}
		undo = remove
	}
	if err := addCounters(&by, p, ops, placed, probe, dir, &undo); err != nil {
		undo()
		return by, nil, err
	}
	return by, undo, nil
}
