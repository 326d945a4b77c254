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
	volumes          accounting
	classic          bool
	raw              bool
	classicOverheads bool
	evaluators       []string
}

func (f *viewFlags) register(c *cobra.Command) {
	c.Flags().Var(&f.volumes, "volumes", "how to tell the volumes of MPI's collective operations: "+accountingNames()+"; both are recorded")
	c.Flags().BoolVar(&f.classic, "classic", false, "leave out the regions of single MPI calls, which ompP does not have")
	c.Flags().BoolVar(&f.raw, "raw", false, "times as measured, without taking out what the probes took of them")
	c.Flags().BoolVar(&f.classicOverheads, "classic-overheads", false, "overhead classes as ompP has them: MPI calls count in the class of the time they lie in, too")
	c.Flags().StringArrayVar(&f.evaluators, "eval", nil, "a column computed from counters, as in 'IPC=instructions/cycles': `formula` of numbers, "+
		"counters, EXECT (s, as measured), EXECC, + - * / and parentheses; may be given several times")
	_ = c.RegisterFlagCompletionFunc("volumes", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(accountingNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
}

// options says what the flags ask for.
func (f *viewFlags) options() report.Options {
	o := report.Options{Volumes: mpi.Accounting(f.volumes), Classic: f.classic, Raw: f.raw, Evaluators: f.evaluators}
	if f.classicOverheads {
		o.Rules = analysis.Classic
	}
	return o
}

func accountingNames() string {
	var names []string
	for a := range mpi.NumAccountings {
		names = append(names, a.String())
	}
	return strings.Join(names, ", ")
}

// accounting is a flag's value.
type accounting mpi.Accounting

// String returns the accounting's name.
func (a *accounting) String() string { return mpi.Accounting(*a).String() }

// Type is how help texts call the value.
func (a *accounting) Type() string { return "accounting" }

// Set takes an accounting's name.
func (a *accounting) Set(s string) error {
	v, ok := mpi.ParseAccounting(s)
	if !ok {
		return fmt.Errorf("there are %s", accountingNames())
	}
	*a = accounting(v)
	return nil
}
