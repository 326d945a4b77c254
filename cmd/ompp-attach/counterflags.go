package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ompp-attach/bpf"
	"ompp-attach/perfcounters"
)

// counterFlags are the flags on performance counters that run and attach share.
type counterFlags struct {
	list string
}

func (f *counterFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.list, "counters", "", "performance counters to read at the beginning and end of each region, "+
		"as perf names them (`ompp-attach counters` lists them), separated by commas")
}

// wanted returns the counters that the flags ask for, and what the user must
// know of them.
func (f *counterFlags) wanted(formulas []string) (list []perfcounters.Counter, err error) {
	if f.list != "" {
		if list, err = perfcounters.NewMachine(os.DirFS(unitsDir)).Parse(f.list); err != nil {
			return nil, &exitError{exitUsage, fmt.Errorf("--counters: %w", err)}
		}
	}
	if len(list) > bpf.MaxCounters {
		return nil, &exitError{exitUsage, fmt.Errorf("--counters: %d counters, and at most %d can be read at once: measure the others in another run", len(list), bpf.MaxCounters)}
	}
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	return list, checkFormulas(formulas, names)
}

// checkFormulas refuses formulas that have no meaning over counters.
func checkFormulas(formulas, names []string) error {
	for _, text := range formulas {
		if _, err := perfcounters.ParseFormula(text, names); err != nil {
			return &exitError{exitUsage, fmt.Errorf("--eval: %w", err)}
		}
	}
	return nil
}
