package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect/target"
	"ompp-attach/outlook"
	"ompp-attach/preflight"
)

func checkCommand() *cobra.Command {
	var pid int
	c := &cobra.Command{
		Use:   "check [--pid PID]",
		Short: "Tell what can be measured here, or in a process",
		Long: `check tells what this machine and this user may measure, and how to get what is
missing. The exit status is 0 if a measurement would work, else 1.

With --pid it also looks at a running process, without touching it:

  - which OpenMP runtimes and MPI libraries the process uses;
  - what a report would show exactly, approximately, or not at all;
  - what measuring would cost the process.`,
		Example: "  ompp-attach check\n  ompp-attach check --pid 4711",
		Args:    cli.ByFlag,
		RunE: func(c *cobra.Command, _ []string) error {
			return check(c.OutOrStdout(), pid, c.Flags().Changed("pid"))
		},
	}
	c.Flags().IntVarP(&pid, "pid", "p", 0, "process to look at: a `PID`")
	return c
}

func check(w io.Writer, pid int, process bool) error {
	var in *target.Inspection
	if process {
		fetchesDebugFiles(func(s string) { fmt.Fprintln(w, s) })
		var err error
		if in, err = target.Inspect(pid); err != nil {
			return err
		}
	}
	m := preflight.Look(preflight.Root())
	trial := preflight.Try()
	var b strings.Builder
	b.WriteString(preflight.Format(m.Lines(trial)))
	works := trial.Works()
	if in != nil {
		ls := outlook.ProcessLines(in, m.SeccompKills(trial.Mode))
		b.WriteString("\n" + preflight.Format(ls))
		works = works && !slices.ContainsFunc(ls, func(l preflight.Line) bool { return l.State == preflight.Problem })
		b.WriteString("\n" + outlook.Verdict(works, fmt.Sprintf("process %d", pid)))
	} else {
		b.WriteString("\n" + outlook.Verdict(works, "programs"))
	}
	b.WriteString(outlook.Scope(in))
	if trial.Works() {
		b.WriteString("\n" + outlook.Prediction(in))
	}
	if _, err := io.WriteString(w, cli.Pasteable(b.String())); err != nil {
		return err
	}
	if !works {
		return &cli.Exit{Status: cli.Failure, Err: nil}
	}
	return nil
}

// diagnose turns an error at the start of a measurement into one sentence with the reason and the
// remedy.
func diagnose(err error) error {
	var known *target.AttachError
	if err == nil || errors.As(err, &known) {
		return err
	}
	m := preflight.Look(preflight.Root())
	return m.Explain(err)
}
