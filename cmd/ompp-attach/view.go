package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/analysis"
	"ompp-attach/mpi"
	"ompp-attach/report"
)

// viewFlags are the flags on what reports show of what was recorded: run,
// attach and report share them.
type viewFlags struct {
	volumes          string
	classic          bool
	classicOverheads bool
}

func (f *viewFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.volumes, "volumes", mpi.Minimal.String(), "how to tell the volumes of MPI's collective operations: "+accountingNames()+" (both are recorded)")
	c.Flags().BoolVar(&f.classic, "classic", false, "leave out the regions of single MPI calls, which ompP does not have")
	c.Flags().BoolVar(&f.classicOverheads, "classic-overheads", false, "overhead classes as ompP has them: MPI calls count in the class of the time they lie in, too")
	_ = c.RegisterFlagCompletionFunc("volumes", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(accountingNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
}

func accountingNames() string {
	var names []string
	for a := range mpi.NumAccountings {
		names = append(names, a.String())
	}
	return strings.Join(names, ", ")
}

// options says what the flags ask for.
func (f *viewFlags) options() (o report.Options, err error) {
	v, ok := mpi.ParseAccounting(f.volumes)
	if !ok {
		return o, &exitError{exitUsage, fmt.Errorf("unknown accounting %q for --volumes; there are %s", f.volumes, accountingNames())}
	}
	o.Volumes, o.Classic = v, f.classic
	if f.classicOverheads {
		o.Rules = analysis.Classic
	}
	return o, nil
}
