package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/compare"
	"ompp-attach/compare/runs"
	"ompp-attach/mpi"
	"ompp-attach/page"
	"ompp-attach/report/difference"
	"ompp-attach/results"
)

// exitHurt is the exit status of diff if a condition of --fail-if holds.
const exitHurt = 3

type diffFlags struct {
	failIf  []string
	format  string
	output  string
	alpha   float64
	all     bool
	raw     bool
	classic bool
	volumes cli.Accounting
}

func diffCommand() *cobra.Command {
	f := diffFlags{format: "text", alpha: compare.DefaultAlpha}
	c := &cobra.Command{
		Use:   "diff [flags] A B",
		Short: "Compare two runs, two jobs, or repeats of them",
		Long: `diff compares a program before and after a change: A and B are directories that
run or attach has written, of a process or of a job, or single recorded profiles.
Regions are joined by function, construct and their order, so that other line
numbers do not matter; regions that only one side has are listed.

Only repeats tell a change from noise. Give them as A1,A2,... or as a directory
that holds one directory per run. With repeats enough diff tells medians, their
95 % confidence intervals, and which changes are significant.

--fail-if ends diff with status 3 if a condition holds, as a gate for CI. A
condition is FIGURE > LIMIT, for the program, or R:REGION FIGURE > LIMIT, for
the regions whose place, function or name contains REGION (* is every one).
LIMIT is a part of the earlier figure (5%), or an amount (0.2s, 10MB, 3).`,
		Example: `  ompp-attach diff before after
  ompp-attach diff base1,base2,base3,base4 new1,new2,new3,new4
  ompp-attach diff --format html -o diff.html before after
  ompp-attach diff --fail-if 'time > 5%' --fail-if 'R:solve imbal > 10%' base new`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("diff needs two arguments, A and B; repeats of one side are joined by commas, as in A1,A2")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return diff(args[0], args[1], &f) },
	}
	c.Flags().StringArrayVar(&f.failIf, "fail-if", nil, "end with status 3 if this `CONDITION` holds, as in 'time > 5%' (repeatable)")
	c.Flags().StringVar(&f.format, "format", f.format, "what to write: `FORMAT` is text, json or html (a page for the browser)")
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to this `FILE`, not to standard output")
	c.Flags().Float64Var(&f.alpha, "alpha", f.alpha, "level of significance: `SHARE` of comparisons of a program with itself that may seem changed")
	c.Flags().BoolVar(&f.all, "all", false, "show also regions that hardly changed")
	c.Flags().BoolVar(&f.raw, "raw", false, "show times as measured, including the time that probes took")
	c.Flags().BoolVar(&f.classic, "classic-overheads", false, "overhead classes as ompP has them: MPI calls count in the class around them, too")
	c.Flags().Var(&f.volumes, "volumes", "how to count the bytes of MPI's collective operations: `WAY` is one of "+cli.AccountingNames())
	return c
}

func diff(a, b string, f *diffFlags) error {
	switch {
	case f.format != "text" && f.format != "json" && f.format != "html":
		return cli.Misuse(fmt.Errorf("unknown format %q; there are text, json, html", f.format))
	case f.format == "html" && f.classic:
		return cli.Misuse(errors.New("html draws classes that do not overlap: leave out --classic-overheads"))
	case f.format == "html" && f.output == "" && isTerminal(os.Stdout):
		return cli.Misuse(errors.New("html is for a browser, not for a terminal: give a file, as in -o diff.html"))
	}
	if !(f.alpha > 0 && f.alpha < 1) {
		return cli.Misuse(fmt.Errorf("--alpha %g: give a number above 0 and below 1, as 0.05", f.alpha))
	}
	var sides [2][]compare.Run
	for i, side := range []string{a, b} {
		var err error
		if sides[i], err = runs.OfSide(side, runs.Options{Raw: f.raw, Classic: f.classic, Warn: cli.Warn}); err != nil {
			if errors.Is(err, runs.ErrNoName) {
				return cli.Misuse(err)
			}
			return err
		}
	}
	c := compare.Compare(sides[compare.Before], sides[compare.After], compare.Options{Alpha: f.alpha, Volumes: mpi.Accounting(f.volumes)})
	violations, untold, err := check(c, f.failIf)
	if err != nil {
		return cli.Misuse(fmt.Errorf("--fail-if %w", err))
	}
	write := func(w io.Writer) error {
		switch f.format {
		case "json":
			return difference.WriteJSON(w, c, violations)
		case "html":
			return page.WriteDifference(w, c, violations)
		}
		return difference.WriteText(w, c, difference.Options{All: f.all})
	}
	if f.output == "" {
		err = write(os.Stdout)
	} else {
		err = results.Save(f.output, write)
	}
	if err != nil {
		return err
	}
	for _, v := range violations {
		cli.Tell(v.Sentence)
	}
	if len(violations) > 0 {
		if untold != nil {
			cli.Tell(untold.Error())
		}
		return &cli.Exit{Status: exitHurt, Err: nil}
	}
	return untold
}

// check returns where conditions hold, and errors of the conditions on times that cannot be told.
func check(c *compare.Comparison, conditions []string) (all []compare.Violation, untold, err error) {
	for _, text := range conditions {
		x, err := compare.ParseCondition(text, counterNames(c))
		if err != nil {
			return nil, nil, err
		}
		found, err := c.Check(x)
		if hidden := (*compare.Untold)(nil); errors.As(err, &hidden) {
			untold = errors.Join(untold, fmt.Errorf("--fail-if %w", hidden))
		} else if err != nil {
			return nil, nil, err
		}
		all = append(all, found...)
	}
	return all, untold, nil
}

// counterNames lists the performance counters of all regions.
func counterNames(c *compare.Comparison) (names []string) {
	for _, r := range c.Regions {
		names = append(names, r.Counters()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
