package list

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"ompp-attach/perfcounters"
)

// Machine lists the counters that a machine has, and those that it lacks if all is set.
func Machine(w io.Writer, m perfcounters.Machine, all bool) error {
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

// Check says of each counter whether it can be had, and which are counted at the same time. all
// tells whether all can be had.
func Check(w io.Writer, list []perfcounters.Counter) (all bool, err error) {
	all = true
	var good []perfcounters.Counter
	for i := range list {
		if err := list[i].Check(); err != nil {
			fmt.Fprintf(w, "%s\n", err)
			all = false
			continue
		}
		good = append(good, list[i])
	}
	groups, err := perfcounters.Groups(good)
	if err != nil {
		return false, err
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
	return all, nil
}
