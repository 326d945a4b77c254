package main

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"ompp-attach/collect"
	"ompp-attach/results"
	"ompp-attach/timeline"
	"ompp-attach/timeline/trigger"
)

// timelineFlag is --timeline: which executions are recorded one by one.
type timelineFlag struct {
	plan string
	when []string           // --when: conditions at which a snapshot is written
	out  *results.Directory // for files that are written during the measurement; nil: see of
	of   *rankDirectories   // such directories by rank; nil: there are none
}

func (f *timelineFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&f.plan, "timeline", "", "record single executions: `WHICH` is last:30s, first:60s, from:100s,for:10s, worst:20 or all; a size caps it: all,4G")
	c.Flags().StringArrayVar(&f.when, "when", nil, "write a snapshot with the timeline when this `CONDITION` holds, as in 'barrier: EXECT > 10ms' (repeatable)")
}

// check refuses an invalid plan or condition. folded says that the kernel side adds up executions.
func (f *timelineFlag) check(folded bool) error {
	conditions, err := f.conditions()
	if err != nil {
		return err
	}
	for _, c := range conditions {
		if folded && c.Folded() {
			return fmt.Errorf("--when %q: the kernel side adds up these executions: give --trace as well", c.Text)
		}
	}
	if f.plan == "" {
		if len(conditions) > 0 {
			return errors.New("--when needs a timeline: give --timeline last:10s as well")
		}
		return nil
	}
	plan, err := timeline.ParsePlan(f.plan)
	if err == nil && plan.Stream && len(conditions) > 0 {
		return fmt.Errorf("--timeline %s: its file has all, so --when is of no use: give --timeline last:10s for snapshots", f.plan)
	}
	return err
}

// conditions parses the conditions of --when.
func (f *timelineFlag) conditions() (all []*trigger.Condition, err error) {
	for _, text := range f.when {
		c, err := trigger.Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// apply makes a measurement record timelines.
func (f *timelineFlag) apply(m *collect.Measurement) error {
	if f.plan == "" {
		return nil
	}
	plan, err := timeline.ParsePlan(f.plan)
	if err != nil {
		return err
	}
	when, err := f.conditions()
	if err != nil {
		return err
	}
	t := &collect.Timelines{Plan: *plan, When: when}
	switch {
	case f.out != nil:
		t.Open = func(pid, _ int) (io.WriteCloser, error) { return f.out.StreamedTimeline(pid) }
	case f.of != nil:
		t.Open = f.of.open
	}
	m.RecordTimelines(t)
	return nil
}

// rankDirectories are the results directories of a collector's ranks, by the process number of the
// rank's program.
type rankDirectories struct {
	mu sync.Mutex
	of map[int]*results.Directory
}

// add notes the directory of a rank, until done is called.
func (d *rankDirectories) add(pid int, out *results.Directory) (done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[int]*results.Directory{}
	}
	d.of[pid] = out
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.of, pid)
	}
}

// open makes the file for the timeline of a process of a rank's program.
func (d *rankDirectories) open(pid, program int) (io.WriteCloser, error) {
	d.mu.Lock()
	out := d.of[program]
	d.mu.Unlock()
	if out == nil {
		return nil, fmt.Errorf("process %d has no results directory any more", pid)
	}
	return out.StreamedTimeline(pid)
}
