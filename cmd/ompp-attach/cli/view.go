package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/analysis"
	"ompp-attach/mpi"
	"ompp-attach/perfcounters"
	"ompp-attach/report"
)

// View holds the flags that say what reports show of a profile. run, attach, top and report share
// these flags.
type View struct {
	Volumes          Accounting // how the bytes of collective operations are counted
	Classic          bool       // without the regions of single MPI calls
	Raw              bool       // times as measured
	All              bool       // also rows of little time
	Sort             order      // of the callgraph
	Decimals         decimals   // of times in the text report; 0: the default
	ClassicOverheads bool       // ompP's overhead classes
	Evaluators       []string   // formulas of columns
}

// Register adds the flags to a command.
func (f *View) Register(c *cobra.Command) {
	c.Flags().Var(&f.Volumes, "volumes", "how to count the bytes of MPI's collective operations: `WAY` is one of "+AccountingNames())
	c.Flags().BoolVar(&f.Classic, "classic", false, "leave out the regions of single MPI calls, which ompP does not have")
	c.Flags().BoolVar(&f.Raw, "raw", false, "show times as measured, including the time that probes took")
	c.Flags().BoolVar(&f.All, "all", false, "show also the rows of the text report that take less than 0.1 % of the time")
	c.Flags().Var(&f.Sort, "sort", "sort the callgraph by `ORDER`: "+orderNames())
	c.Flags().Var(&f.Decimals, "decimals", "decimals of the text report's times, 1 to 9 (default 2, and more for runs below 10 s)")
	c.Flags().BoolVar(&f.ClassicOverheads, "classic-overheads", false, "overhead classes as ompP has them: MPI calls count in the class around them, too")
	c.Flags().StringArrayVar(&f.Evaluators, "eval", nil, "a column that a `FORMULA` computes from counters, as in 'IPC=instructions/cycles' (repeatable)")
	_ = c.RegisterFlagCompletionFunc("sort", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(orderNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
	_ = c.RegisterFlagCompletionFunc("volumes", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(AccountingNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
}

// Options returns the options of reports for which the flags ask.
func (f *View) Options() report.Options {
	o := report.Options{Volumes: mpi.Accounting(f.Volumes), Classic: f.Classic, Raw: f.Raw, All: f.All, Sort: report.Order(f.Sort), Decimals: int(f.Decimals), Evaluators: f.Evaluators}
	if f.ClassicOverheads {
		o.Rules = analysis.Classic
	}
	return o
}

// CheckFormulas refuses formulas that cannot be computed from the named counters.
func CheckFormulas(formulas, names []string) error {
	for _, text := range formulas {
		if _, err := perfcounters.ParseFormula(text, names); err != nil {
			return Misuse(fmt.Errorf("--eval: %w", err))
		}
	}
	return nil
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

// AccountingNames lists the values of --volumes.
func AccountingNames() string {
	var names []string
	for a := range mpi.NumAccountings {
		names = append(names, a.String())
	}
	return strings.Join(names, ", ")
}

// Accounting is the value of --volumes.
type Accounting mpi.Accounting

// String returns the accounting's name.
func (a *Accounting) String() string { return mpi.Accounting(*a).String() }

// Type names the value in help texts.
func (a *Accounting) Type() string { return "accounting" }

// Set takes the name of an accounting.
func (a *Accounting) Set(s string) error {
	v, ok := mpi.ParseAccounting(s)
	if !ok {
		return fmt.Errorf("there are %s", AccountingNames())
	}
	*a = Accounting(v)
	return nil
}
