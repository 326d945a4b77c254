package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect/counting"
	"ompp-attach/perfcounters"
)

// noCounters is the value of --counters for no counters.
const noCounters = "none"

// counterFlags are the flags on performance counters that run and attach share.
type counterFlags struct {
	list string
}

func (f *counterFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.list, "counters", "", "performance counters of each region: a `LIST` with commas, or "+noCounters+
		" (default cycles,instructions,cache-misses,branch-misses)")
}

// wanted returns the counters that the flags ask for, or else the default counters of this machine.
// If the default lacks hardware counters, the sentence why says the reason. The error names a
// counter that this machine does not have, or a formula that cannot be computed.
func (f *counterFlags) wanted(formulas []string) (list []perfcounters.Counter, why string, err error) {
	m := perfcounters.NewMachine(os.DirFS(unitsDir))
	switch f.list {
	case "":
		list, why = m.Defaults()
	case noCounters:
	default:
		if list, err = m.Parse(f.list); err != nil {
			return nil, "", cli.Misuse(fmt.Errorf("--counters: %w", err))
		}
	}
	if err := counting.Check(list); err != nil {
		return nil, "", cli.Misuse(fmt.Errorf("--counters: %w", err))
	}
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	return list, why, cli.CheckFormulas(formulas, names)
}
