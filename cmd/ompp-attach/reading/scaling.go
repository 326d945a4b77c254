package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/efficiency"
	"ompp-attach/report/efficiencies"
	"ompp-attach/report/words"
	"ompp-attach/results"
)

func scalingCommand() *cobra.Command {
	var f reportFlags
	var weak bool
	f.rank = -1
	c := &cobra.Command{
		Use:   "scaling DIR DIR...",
		Short: "Compare runs on different numbers of ranks and threads",
		Long: `scaling compares recorded runs of a program on different numbers of ranks and
threads. Each run has a line with its time, its speed-up, and POP's efficiencies,
computation scaling included. The run with the fewest threads is the reference.

The multithreading efficiency e_mt needs a run on as many ranks with one thread
each. e_mp compares the time of communication of a hybrid run with that of a pure
MPI run on as many threads.`,
		Example: `  ompp-attach scaling run-1x1 run-2x1 run-2x2 run-4x1
  ompp-attach scaling --format extrap -o - run-*`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("give the directories of two or more runs on different numbers of ranks or threads")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return scaling(args, &f, weak) },
	}
	c.Flags().BoolVar(&weak, "weak", false, weakHelp)
	c.Flags().BoolVar(&f.view.Raw, "raw", false, "show times as measured, including the time that probes took")
	c.Flags().BoolVar(&f.view.All, "all", false, "show all regions")
	var names []string
	for _, format := range efficiencies.ScalingFormats {
		names = append(names, format.Name)
	}
	c.Flags().StringSliceVar(&f.formats, "format", []string{"text"}, "what to write: a `LIST` of "+strings.Join(names, ", ")+" (for Extra-P)")
	c.Flags().StringVarP(&f.dir, "output", "o", "-", "write files to this `DIR`; - writes to standard output")
	return c
}

func scaling(dirs []string, f *reportFlags, weak bool) error {
	var formats []efficiencies.ScalingFormat
	for _, n := range f.formats {
		format, ok := efficiencies.ScalingFormatNamed(n)
		if !ok {
			return cli.Misuse(fmt.Errorf("unknown format %q of scaling; see ompp-attach scaling --help", n))
		}
		formats = append(formats, format)
	}
	if f.dir == "-" && len(formats) > 1 {
		return cli.Misuse(errors.New("-o - takes one format; give a directory for several"))
	}
	s, err := compareRuns(dirs, f, weak)
	if err != nil {
		return err
	}
	o := efficiencies.Options{Label: words.Region, All: f.view.All}
	if f.dir == "-" {
		if formats[0].Name != "text" {
			for _, t := range s.Troubles() {
				cli.Warn("%s", t)
			}
		}
		return formats[0].Write(os.Stdout, s, o)
	}
	to, err := reportDirectory("", f.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, format := range formats {
		name := filepath.Join(to, format.File)
		if err := results.Save(name, func(w io.Writer) error { return format.Write(w, s, o) }); err != nil {
			errs = append(errs, err)
			continue
		}
		cli.TellFile(name)
	}
	return errors.Join(errs...)
}

// compareRuns reads a run from each directory.
func compareRuns(dirs []string, f *reportFlags, weak bool) (*efficiency.Scaling, error) {
	var runs []*efficiency.Run
	var labels []string
	for _, dir := range dirs {
		found, err := readRuns(dir, f)
		if err != nil {
			return nil, err
		}
		if len(found) > 1 {
			return nil, fmt.Errorf("%s holds %d processes that are not of one job: give a directory with one process or one job", dir, len(found))
		}
		label := filepath.Base(filepath.Clean(dir))
		if h := found[0].Hidden(); h != nil {
			return nil, fmt.Errorf("the times of %s %s", label, h.Says())
		}
		runs, labels = append(runs, found[0].Run), append(labels, label)
	}
	return efficiency.Compare(runs, labels, weak), nil
}
