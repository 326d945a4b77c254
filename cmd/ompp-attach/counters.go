package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ompp-attach/perfcounters"
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
themselves, and what the kernel counts of each thread. With COUNTERs it says of
each whether it can be had, and which of them are counted at the same time and
which have to take turns. The exit status is 1 if one cannot be had.`,
		Example: "  ompp-attach counters\n  ompp-attach counters cycles,instructions,PAPI_BR_MSP,cpu/event=0xc2,umask=1/",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			m := perfcounters.NewMachine(os.DirFS(unitsDir))
			if len(args) == 0 {
				return listCounters(c.OutOrStdout(), m, all)
			}
			return tryCounters(c.OutOrStdout(), m, args[0])
		},
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "list events that are not counted here as well, with the reason")
	return c
}

func listCounters(w io.Writer, m perfcounters.Machine, all bool) error {
	list := perfcounters.Generic()
	for _, u := range m.Units() {
		for _, c := range m.Events(u) {
			c.Name = u + "/" + c.Name + "/"
			list = append(list, c)
		}
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	unit, missing := "", 0
	for i := range list {
		c := &list[i]
		err := c.Check()
		if err != nil {
			missing++
			if !all {
				continue
			}
		}
		if c.PMU != unit {
			unit = c.PMU
			fmt.Fprintf(t, "%s:\n", unit)
		}
		text := c.Description
		if c.Unit != "" {
			text = strings.TrimSpace(text + " (" + c.Unit + ")")
		}
		if err != nil {
			text = "not here: " + strings.TrimPrefix(err.Error(), c.Name+": ")
		}
		fmt.Fprintf(t, "  %s\t%s\n", c.Name, text)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if missing > 0 && !all {
		fmt.Fprintf(w, "%d more events are known and not counted here; --all lists them with the reason.\n", missing)
	}
	if !m.HasHardware() {
		fmt.Fprintln(w, "This machine shows no hardware counters; virtual machines often have none.")
	}
	return nil
}

func tryCounters(w io.Writer, m perfcounters.Machine, names string) error {
	list, err := m.Parse(names)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	var failed error
	var good []perfcounters.Counter
	for i := range list {
		if err := list[i].Check(); err != nil {
			fmt.Fprintf(w, "%s\n", err)
			failed = &exitError{status: exitFailure}
			continue
		}
		good = append(good, list[i])
	}
	groups, err := perfcounters.Groups(good)
	if err != nil {
		return err
	}
	for i, g := range groups {
		var names []string
		for _, c := range g {
			names = append(names, c.Name)
		}
		fmt.Fprintf(w, "group %d: %s\n", i+1, strings.Join(names, ", "))
	}
	if len(groups) > 1 {
		fmt.Fprintf(w, "The %d groups take turns: each is counted during a part of the time, and scaled.\n", len(groups))
	}
	for _, c := range good {
		if c.Kind == perfcounters.Software {
			fmt.Fprintf(w, "%s: counted by the kernel for each thread, at all times\n", c.Name)
		}
	}
	return failed
}
