package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/results"
	"ompp-attach/timeline"
)

// timelineFlag is --timeline: which executions are recorded one by one.
type timelineFlag struct {
	plan string
	out  *results.Directory // for files that are written meanwhile; nil: for none
}

func (f *timelineFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&f.plan, "timeline", "", "record single executions, too; `WHEN` is last:30s (before the end), first:60s, from:100s,for:10s, or all; a comma and a size set a cap, as in last:30s,256M or all,4G; report --format perfetto shows the executions")
}

// check refuses a plan that makes no sense, or that is not possible here.
func (f *timelineFlag) check() error {
	if f.plan == "" {
		return nil
	}
	plan, err := timeline.ParsePlan(f.plan)
	if err != nil {
		return err
	}
	if _, ok := launch.RankOf(os.Getpid()); ok && plan.Stream {
		return fmt.Errorf("--timeline %s: the ranks of a job keep their timelines in memory: give last:TIME,SIZE or first:TIME,SIZE", f.plan)
	}
	return nil
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
	t := &collect.Timelines{Plan: *plan}
	if f.out != nil {
		t.Open = func(pid int) (io.WriteCloser, error) { return f.out.StreamedTimeline(pid) }
	}
	m.RecordTimelines(t)
	return nil
}
