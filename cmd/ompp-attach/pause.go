package main

import (
	"errors"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect/control"
)

func pauseCommand() *cobra.Command {
	return controlCommand("pause", "Stop measuring a process for a while", `pause takes the probes of a running measurement away, so that the process runs
as if nobody measured, until `+"`ompp-attach resume`"+`. The time in between is not
part of the report, nor is what happens in it; the report says how long it was.
Regions that are under way are counted, with their time until then. Give the
process that is measured, not ompp-attach; only the user who started the
measurement can pause it.`)
}

func resumeCommand() *cobra.Command {
	return controlCommand("resume", "Go on measuring after pause", `resume places the probes again that pause took away. Regions that are under way
at that moment are treated as at attach: they are counted from their next
execution on.`)
}

func controlCommand(verb, short, long string) *cobra.Command {
	var pid int
	c := &cobra.Command{
		Use:     verb + " --pid PID",
		Short:   short,
		Long:    long,
		Example: "  ompp-attach " + verb + " --pid 4711",
		Args:    cli.ByFlag,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("pid") {
				return cli.Misuse(errors.New("which process? give --pid PID"))
			}
			_, err := control.Ask(verb, pid)
			return err
		},
	}
	c.Flags().IntVarP(&pid, "pid", "p", 0, "process that is measured: a `PID`")
	return c
}
