package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ompp-attach/report/efficiencies"
	"ompp-attach/report/words"
	"ompp-attach/results"
)

func predictCommand() *cobra.Command {
	var f reportFlags
	var weak bool
	var cores int
	var format, output string
	f.rank = -1
	c := &cobra.Command{
		Use:   "predict DIR...",
		Short: "Predict times on other numbers of ranks and threads from recorded runs",
		Long: `predict tells from recorded runs of a program how long it would take on other
numbers of ranks and threads, as a matrix. From one run it can only assume how
work and communication change with the ranks; runs on two or more numbers of
ranks, and of threads, tell. With three or more runs it shows for each run what
the others foretell of it. Each assumption is printed.`,
		Example: `  ompp-attach predict --cores 64 run-1x1 run-2x1 run-2x2 run-4x1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which runs? give the directories of one or more runs that run or attach has written")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			write := efficiencies.WriteForecastText
			switch format {
			case "text":
			case "json":
				write = efficiencies.WriteForecastJSON
			default:
				return &exitError{exitUsage, fmt.Errorf("unknown format %q of predict; there are text, json", format)}
			}
			forecast, err := forecastOf(args, &f, weak, cores)
			if err != nil {
				return err
			}
			out := func(w io.Writer) error {
				return write(w, forecast, efficiencies.Options{Label: words.Region})
			}
			if output == "-" {
				return out(os.Stdout)
			}
			if err := results.Save(output, out); err != nil {
				return err
			}
			tellFile(output)
			return nil
		},
	}
	c.Flags().BoolVar(&weak, "weak", false, "the problem grows with the ranks (default: it is the same)")
	c.Flags().IntVar(&cores, "cores", 0, "the most cores, ranks times threads (default four times those of the largest run)")
	c.Flags().BoolVar(&f.view.raw, "raw", false, "times as measured, without taking out what the probes took of them")
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVarP(&output, "output", "o", "-", "write to this `file`; - writes to standard output")
	return c
}

// forecastOf reads the runs and learns from them.
func forecastOf(dirs []string, f *reportFlags, weak bool, cores int) (*efficiencies.Forecast, error) {
	const most = 1 << 20
	if cores < 0 || cores > most {
		return nil, &exitError{exitUsage, fmt.Errorf("--cores %d: give a number from 1 to %d", cores, most)}
	}
	s, err := compareRuns(dirs, f, weak)
	if err != nil {
		return nil, err
	}
	p, err := s.Predict()
	if err != nil {
		return nil, err
	}
	if largest := s.Runs[len(s.Runs)-1].All; cores == 0 {
		cores = 4 * largest
	}
	return &efficiencies.Forecast{Prediction: p, Scaling: s, Cores: cores}, nil
}
