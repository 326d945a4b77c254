package main

import (
	"os"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/perfcounters"
	"ompp-attach/perfcounters/list"
)

// unitsDir is where the kernel describes its counting units.
const unitsDir = "/sys/bus/event_source/devices"

func countersCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "counters [flags] [COUNTER,...]",
		Short: "List the performance counters of this machine",
		Long: `counters lists the events that this machine counts, tried one by one: perf's
generic events, hardware cache events, what the processor's units name
themselves, and what the kernel counts of each thread.

With COUNTERs it says of each counter whether this machine has it. It also says
which of them are counted at the same time, and which take turns. The exit status
is 1 if this machine lacks one of them.`,
		Example: "  ompp-attach counters\n  ompp-attach counters cycles,instructions,PAPI_BR_MSP,cpu/event=0xc2,umask=1/",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			m := perfcounters.NewMachine(os.DirFS(unitsDir))
			if len(args) == 0 {
				return list.Machine(c.OutOrStdout(), m, all)
			}
			counters, err := m.Parse(args[0])
			if err != nil {
				return cli.Misuse(err)
			}
			all, err := list.Check(c.OutOrStdout(), counters)
			if err == nil && !all {
				return &cli.Exit{Status: cli.Failure}
			}
			return err
		},
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "list also events that are not counted here, with the reason")
	return c
}
