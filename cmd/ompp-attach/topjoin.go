package main

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect"
	"ompp-attach/results"
	"ompp-attach/top"
)

// shownFlags are the flags of top on what is shown. All others are on what is measured.
var shownFlags = []string{"pid", "job", "duration", "interval", "count", "format", "output", "overwrite", "raw", "classic-overheads", "verbose", "quiet"}

// join shows the measurement of another run of the tool.
func (f *topFlags) join(j *top.Joined, program string, c *cobra.Command) error {
	out := results.Later(program)
	if f.out != "" {
		var err error
		if out, err = results.Open(f.out, program, 0, f.overwrite); err != nil {
			return err
		}
	}
	ctx, stop := f.untilEnough()
	defer stop()
	if f.duration > 0 {
		defer time.AfterFunc(f.duration, stop).Stop()
	}
	v := f.open(titleOf(program, f.pids)+", of another measurement", j.Keep)
	v.Say("another run of ompp-attach measures this already: top shows that measurement, which goes on when top ends")
	if measuringFlags(c) {
		v.Say("flags on what is measured have no effect: the other measurement decides that")
	}
	err := v.Follow(ctx, j.Take)
	v.Close()
	if j.Over() {
		cli.Tell(err.Error())
		err = nil
	}
	last := j.Last()
	if f.out == "" || len(last) == 0 {
		return out.Abandon(err)
	}
	f.quiet = f.quiet || f.format == top.JSON
	return errors.Join(err, out.Write(&collect.Result{First: last[0], Profiles: last}, f.wanted()))
}

// measuringFlags tells whether the user gave flags on what is measured.
func measuringFlags(c *cobra.Command) (given bool) {
	c.Flags().Visit(func(f *pflag.Flag) { given = given || !slices.Contains(shownFlags, f.Name) })
	return given
}
