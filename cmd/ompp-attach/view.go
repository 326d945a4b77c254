package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/analysis"
	"ompp-attach/mpi"
	"ompp-attach/report"
)

// viewFlags are the flags on what reports show of a record. run, attach and report share them.
type viewFlags struct {
	volumes          accounting
	classic          bool
	raw              bool
	all              bool
	sort             order
	decimals         decimals
	classicOverheads bool
	evaluators       []string
}

func (f *viewFlags) register(c *cobra.Command) {
	c.Flags().Var(&f.volumes, "volumes", "how to tell the volumes of MPI's collective operations: "+accountingNames()+"; both are recorded")
	c.Flags().BoolVar(&f.classic, "classic", false, "leave out the regions of single MPI calls, which ompP does not have")
	c.Flags().BoolVar(&f.raw, "raw", false, "times as measured, without taking out what the probes took of them")
	c.Flags().BoolVar(&f.all, "all", false, "show also the rows of the text report that take less than 0.1 % of the time, which are joined otherwise")
	c.Flags().Var(&f.sort, "sort", "the callgraph by time, the most first, or as in the source: "+orderNames())
	c.Flags().Var(&f.decimals, "decimals", "of the text report's times, 1 to 9 (default 2, as ompP, and more for runs of less than 10 s)")
	c.Flags().BoolVar(&f.classicOverheads, "classic-overheads", false, "overhead classes as ompP has them: MPI calls count in the class of the time they lie in, too")
	c.Flags().StringArrayVar(&f.evaluators, "eval", nil, "a column computed from counters, as in 'IPC=instructions/cycles': `formula` of numbers, "+
		"counters, EXECT (s, as measured), EXECC, + - * / and parentheses; may be given several times")
	_ = c.RegisterFlagCompletionFunc("sort", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(orderNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
	_ = c.RegisterFlagCompletionFunc("volumes", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(accountingNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
}

// options returns the options of a report that the flags ask for.
func (f *viewFlags) options() report.Options {
	o := report.Options{Volumes: mpi.Accounting(f.volumes), Classic: f.classic, Raw: f.raw, All: f.all, Sort: report.Order(f.sort), Decimals: int(f.decimals), Evaluators: f.evaluators}
	if f.classicOverheads {
		o.Rules = analysis.Classic
	}
	return o
}

// order is the value of --sort.
type order report.Order

func orderNames() string {
	var names []string
	for _, o := range report.Orders {
		names = append(names, string(o))
	}
	return strings.Join(names, ", ")
}

// String returns the order's name.
func (o *order) String() string { return string(*o) }

// Type names the value in help texts.
func (o *order) Type() string { return "order" }

// Set takes the name of an order.
func (o *order) Set(s string) error {
	if !slices.Contains(report.Orders, report.Order(s)) {
		return fmt.Errorf("there are %s", orderNames())
	}
	*o = order(s)
	return nil
}

// decimals is the value of --decimals; 0: not given.
type decimals int

// String returns the number, or "" if none was given.
func (d *decimals) String() string {
	if *d == 0 {
		return ""
	}
	return strconv.Itoa(int(*d))
}

// Type names the value in help texts.
func (d *decimals) Type() string { return "N" }

// Set takes a number from 1 to 9.
func (d *decimals) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 9 {
		return errors.New("give a number from 1 to 9")
	}
	*d = decimals(n)
	return nil
}

func accountingNames() string {
	var names []string
	for a := range mpi.NumAccountings {
		names = append(names, a.String())
	}
	return strings.Join(names, ", ")
}

// accounting is the value of --volumes.
type accounting mpi.Accounting

// String returns the accounting's name.
func (a *accounting) String() string { return mpi.Accounting(*a).String() }

// Type names the value in help texts.
func (a *accounting) Type() string { return "accounting" }

// Set takes the name of an accounting.
func (a *accounting) Set(s string) error {
	v, ok := mpi.ParseAccounting(s)
	if !ok {
		return fmt.Errorf("there are %s", accountingNames())
	}
	*a = accounting(v)
	return nil
}
