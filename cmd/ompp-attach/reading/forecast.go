package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/files"
	"ompp-attach/forecast"
	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/report/efficiencies"
	"ompp-attach/results"
	"ompp-attach/signature"
	"ompp-attach/system"
)

// weakHelp is the help on --weak, for all commands with this flag.
const weakHelp = "each thread has as much work in all runs (default: the whole problem is the same in all runs)"

func predictCommand() *cobra.Command {
	var o forecast.Options
	var raw bool
	var profile, format, output string
	var against []string
	c := &cobra.Command{
		Use:   "predict DIR|SIGNATURE...",
		Short: "Predict times on other numbers of ranks and threads from recorded runs",
		Long: `predict tells from recorded runs of a program how long it would take on other
numbers of ranks and threads, as a matrix of times with intervals. A run is a
directory that run or attach has written, or a file of ompp-attach signature.

From one run, predict can only assume how work and communication change with the
ranks. Give runs on three or more numbers of ranks, and on two of threads: from
these, predict learns how. Repeated runs make the intervals narrower. If runs are
in three or more cells of the matrix, predict also predicts each of these cells
from the others, as a test. It prints each assumption.

The costs of OpenMP and MPI are those of the runs, or with --system those that
ompp-attach system has measured.`,
		Example: `  ompp-attach predict --cores 64 run-1x1 run-2x1 run-2x2 run-4x1
  ompp-attach predict --system system.json app.json
  ompp-attach predict --against run-8x2 run-1x1 run-2x1 run-4x1 run-1x2`,
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
				return cli.Misuse(fmt.Errorf("unknown format %q of predict; there are text, json", format))
			}
			f, err := forecastOf(args, against, profile, raw, o)
			if err != nil {
				return err
			}
			out := func(w io.Writer) error { return write(w, f) }
			if output == "-" {
				return out(os.Stdout)
			}
			if err := results.Save(output, out); err != nil {
				return err
			}
			cli.TellFile(output)
			return nil
		},
	}
	c.Flags().BoolVar(&o.Weak, "weak", false, weakHelp)
	c.Flags().IntVar(&o.Cores, "cores", 0, "predict for up to `N` cores, ranks times threads (default: four times those of the largest run)")
	c.Flags().IntVar(&o.CPUs, "cpus", 0, "all nodes together have `N` CPUs: cells with more threads are marked (default: the system profile's, or this machine's)")
	c.Flags().StringVar(&profile, "system", "", "take the costs of OpenMP and MPI from this `FILE` of ompp-attach system, not from the runs")
	c.Flags().StringArrayVar(&against, "against", nil, "compare the prediction with a run that it does not learn from: `DIR|SIGNATURE` (repeatable)")
	c.Flags().BoolVar(&raw, "raw", false, "show times as measured, including the time that probes took")
	c.Flags().StringVar(&format, "format", "text", "what to write: `FORMAT` is text or json")
	c.Flags().StringVarP(&output, "output", "o", "-", "write to this `FILE`; - writes to standard output")
	return c
}

// forecastOf makes a prediction from the runs of learn and the system profile. The runs of against
// are only compared with the prediction.
func forecastOf(learn, against []string, profile string, raw bool, o forecast.Options) (*forecast.Forecast, error) {
	const most = 1 << 20
	if o.Cores < 0 || o.Cores > most {
		return nil, cli.Misuse(fmt.Errorf("--cores %d: give a number from 1 to %d", o.Cores, most))
	}
	if o.CPUs < 0 {
		return nil, cli.Misuse(fmt.Errorf("--cpus %d: give a number from 1 on", o.CPUs))
	}
	runs, err := readSignatures(learn, raw)
	if err != nil {
		return nil, err
	}
	others, err := readSignatures(against, raw)
	if err != nil {
		return nil, err
	}
	if profile != "" {
		if o.System, err = System(profile); err != nil {
			return nil, err
		}
	}
	if o.CPUs == 0 {
		o.CPUs = cpusOf(runs, o.System)
	}
	return forecast.New(runs, others, o)
}

// cpusOf returns the number of CPUs for which a prediction is made; 0: not known. With a system
// profile, it is the number of the profile's machine, times the largest number of nodes of a run.
// Otherwise it is the number of this machine, if all runs were on this machine.
func cpusOf(runs []forecast.Run, profile *system.Profile) int {
	nodes := 1
	host, err := os.Hostname()
	here := err == nil
	for _, r := range runs {
		nodes = max(nodes, len(r.Hosts))
		here = here && slices.Equal(r.Hosts, []string{host})
	}
	switch {
	case profile != nil:
		return profile.Machine.Affinity * nodes
	case here:
		return runtime.NumCPU()
	}
	return 0
}

// readSignatures reads a run from each directory or file.
func readSignatures(names []string, raw bool) (runs []forecast.Run, err error) {
	for _, name := range names {
		s, err := readSignature(name, raw)
		if err != nil {
			return nil, err
		}
		runs = append(runs, forecast.Run{Label: filepath.Base(filepath.Clean(name)), Signature: s})
	}
	return runs, nil
}

func readSignature(name string, raw bool) (*signature.Signature, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		f, err := files.Open(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, results.Reason(err))
		}
		defer f.Close()
		s, err := signature.Read(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return s, nil
	}
	j, err := readJob(name, job.Options{Paths: true, Raw: raw})
	if err != nil {
		return nil, err
	}
	return signature.Of(j, mpi.Minimal), nil
}

// System reads a system profile from the file with this name.
func System(name string) (*system.Profile, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w; give a file that `ompp-attach system` has written", name, results.Reason(err))
	}
	defer f.Close()
	p, err := system.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
