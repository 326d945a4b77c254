package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect/control"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
	"ompp-attach/results"
	"ompp-attach/top"
)

// topFlags say what top measures and how it shows the measurement.
type topFlags struct {
	measureFlags
	pids     []int
	job      int
	duration time.Duration
	interval time.Duration
	count    int
	format   string
}

func topCommand() *cobra.Command {
	f := topFlags{interval: time.Second}
	c := &cobra.Command{
		Use:   "top [flags] --pid PID | --job PID | -- PROGRAM [ARGS...]",
		Short: "Watch a running program: classes, regions and threads, every second",
		Long: `top measures as attach does (or, with a PROGRAM, as run does), and shows every
second where the threads' time went: by class of overhead, by region, and by
thread. Keys sort, pause, look into a region and write a snapshot; ? lists them.
q ends the measurement. An attached process goes on as before.

Where another run of ompp-attach of the same user measures the process already,
top shows that measurement. The process pays nothing more, and the measurement
goes on when top ends.

Without a terminal, top writes a line per second, and with --format json an
object per second. With -o the results are written as attach writes them.
` + flagsText,
		Annotations: map[string]string{cli.Manual: manualText},
		Example:     "  ompp-attach top --pid 4711\n  ompp-attach top --job $(pgrep -n mpirun)\n  ompp-attach top --format json --count 10 --pid 4711 > windows.json",
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c, args)
		},
	}
	f.register(c, sampleAttached)
	hideFrom(c, "snapshot", "every", "quiet")
	c.Flags().Lookup("output").Usage = "write the results to this `DIR` in the end, as attach does; snapshots go there, too"
	show := c.Flags().Lookup("format")
	show.Usage, show.DefValue = "how to show it: `FORMAT` is screen, line or json (default screen on a terminal, else line)", ""
	show.Value = (*oneWord)(&f.format)
	c.Flags().SetInterspersed(false)
	c.Flags().IntSliceVarP(&f.pids, "pid", "p", nil, "process to watch: a `PID`, or several, as in 4711,4712")
	c.Flags().IntVarP(&f.job, "job", "j", 0, "watch all ranks on this node that the launcher `PID` (mpirun, srun) has started")
	c.Flags().DurationVarP(&f.duration, "duration", "d", 0, "how long to watch: a `TIME`, as in 30s (default: until q or Ctrl-C)")
	c.Flags().DurationVar(&f.interval, "interval", f.interval, "show a line or screen every `TIME`")
	c.Flags().IntVarP(&f.count, "count", "n", 0, "end after `N` lines or screens")
	return c
}

// oneWord is a flag that takes a word.
type oneWord string

// String returns the word.
func (w *oneWord) String() string { return string(*w) }

// Type names the value in help texts.
func (w *oneWord) Type() string { return "format" }

// Set takes any word.
func (w *oneWord) Set(s string) error { *w = oneWord(s); return nil }

func hideFrom(c *cobra.Command, names ...string) {
	for _, n := range names {
		_ = c.Flags().MarkHidden(n)
	}
}

// prepareTop checks the flags, and finds the ranks of --job.
func (f *topFlags) prepareTop(c *cobra.Command, args []string) error {
	given := c.Flags().Changed
	ways := 0
	for _, way := range []bool{given("pid"), given("job"), len(args) > 0} {
		if way {
			ways++
		}
	}
	usage := func(format string, args ...any) error { return cli.Misuse(fmt.Errorf(format, args...)) }
	switch {
	case ways > 1:
		return usage("give one of --pid, --job and a program, not several")
	case ways == 0:
		return usage("which process? give --pid PID, --job PID for the ranks that mpirun PID has started, or a program after --")
	case f.interval < 100*time.Millisecond:
		return usage("--interval %s: give at least 100ms", f.interval)
	case f.count < 0:
		return usage("--count %d: give how many windows to show", f.count)
	case given("duration") && f.duration <= 0:
		return usage("--duration %s: give a time above 0, as in 30s", f.duration)
	}
	switch f.format {
	case "":
		if f.format = top.Line; top.OnTerminal() {
			f.format = top.Screen
		}
	case top.Screen:
		if !top.OnTerminal() {
			return usage("--format screen needs a terminal; without one there are line, json")
		}
	case top.Line, top.JSON:
	default:
		return usage("unknown format %q; there are screen, line, json", f.format)
	}
	f.formats = results.DefaultFormats
	if err := f.check(); err != nil {
		return err
	}
	if f.timeline.plan != "" && f.out == "" {
		return usage("--timeline %s: top keeps no results: give a directory with -o", f.timeline.plan)
	}
	if given("job") {
		var err error
		f.pids, err = launch.JobProcesses(f.job)
		return err
	}
	return nil
}

func (f *topFlags) run(c *cobra.Command, args []string) error {
	if err := f.prepareTop(c, args); err != nil {
		return err
	}
	cli.OutliveReader()
	if len(args) > 0 {
		return f.launch(args)
	}
	f.pids = sortedPIDs(f.pids)
	var program string
	for i, pid := range f.pids {
		name, err := target.Check(pid)
		if err != nil {
			return err
		}
		if i == 0 {
			program = name
		}
	}
	j, err := top.Join(f.pids)
	switch {
	case err == nil:
		return f.join(j, program, c)
	case errors.Is(err, top.ErrNotAllMeasured):
		cli.Tell("some of these processes are measured already, by another run of ompp-attach: they pay for both measurements")
	case !errors.Is(err, control.ErrNotMeasured):
		cli.Tell(fmt.Sprintf("another run of ompp-attach measures already, and top cannot join it: %v; the processes pay for both measurements", err))
	}
	return f.attach(program)
}

// open opens a view as the flags ask for.
func (f *topFlags) open(title string, keep func() (string, error)) *top.View {
	view := f.view.Options()
	return top.Open(top.Options{Format: f.format, Title: title, Interval: f.interval, Count: f.count, Rules: view.Rules, Raw: view.Raw, Keep: keep, Tell: cli.Tell})
}
