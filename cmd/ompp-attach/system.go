package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ompp-attach/calibration"
	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/cmd/ompp-attach/reading"
	"ompp-attach/report/costs"
	"ompp-attach/results"
	"ompp-attach/system"
	"ompp-attach/system/measure"
	"ompp-attach/version"
)

func systemCommand() *cobra.Command {
	var o measure.Options
	var output, options string
	var overwrite, noProbe bool
	c := &cobra.Command{
		Use:   "system [FILE]",
		Short: "Measure what this machine and its software cost",
		Long: `system measures what OpenMP constructs, MPI operations, computing and the tool's
probes cost on this machine. It writes a system profile for ompp-attach predict.

It compiles small programs with your C compiler and your MPI, so that your
runtime is measured. Each measurement is repeated until its standard error is
below 3 %, or a bound is reached. That takes some minutes; with --quick less than
one. Nothing else should run meanwhile. Ctrl-C ends it and keeps what was
measured.

If FILE is a system profile, its tables are shown again.`,
		Example: `  ompp-attach system -o system.json
  ompp-attach system --cc icx --mpicc mpiicx --mpirun 'mpiexec.hydra -n {p}'
  ompp-attach system --mpirun 'srun -n {p}' --processes 2,16,64 --build ~/scratch
  ompp-attach system system.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return showSystem(c.OutOrStdout(), args[0])
			}
			o.CFlags = strings.Fields(options)
			if !noProbe {
				o.Probe = probeCost
			}
			return measureSystem(c, o, output, overwrite)
		},
	}
	f := c.Flags()
	f.StringVarP(&output, "output", "o", "system.json", "write the profile to this `FILE`; - writes it to standard output instead of the tables")
	f.BoolVar(&overwrite, "overwrite", false, "replace the file if it exists")
	f.BoolVar(&o.Quick, "quick", false, "fewer sizes and numbers, shorter bounds: less than a minute")
	f.StringVar(&o.CC, "cc", "cc", "`COMPILER` for C")
	f.StringVar(&options, "cflags", "-O2 -fopenmp", "`OPTIONS` of the compilers")
	f.StringVar(&o.MPICC, "mpicc", "mpicc", "`COMPILER` for C with MPI")
	f.StringVar(&o.MPIRun, "mpirun", "mpirun -n {p}", "`LAUNCHER` of MPI; {p} stands for the number of processes")
	f.IntSliceVar(&o.Threads, "threads", nil, "`NUMBERS` of threads (default: powers of two up to the CPUs)")
	f.IntSliceVar(&o.Processes, "processes", nil, "`NUMBERS` of processes (default: powers of two up to the CPUs)")
	f.StringVar(&o.Dir, "build", "", "build the programs in this `DIR`, which all nodes must see")
	f.BoolVar(&noProbe, "no-probes", false, "leave out what probes cost")
	return c
}

// showSystem shows the tables of a profile.
func showSystem(w io.Writer, name string) error {
	p, err := reading.System(name)
	if err != nil {
		return err
	}
	return costs.Write(w, p)
}

// measureSystem measures, writes the file, and shows the tables.
func measureSystem(c *cobra.Command, o measure.Options, output string, overwrite bool) error {
	for _, n := range append(append([]int{}, o.Threads...), o.Processes...) {
		if n < 1 || n > mostAtOnce {
			return cli.Misuse(fmt.Errorf("%d is no number of threads or processes to measure with", n))
		}
	}
	if output != "-" {
		if _, err := os.Lstat(output); err == nil && !overwrite {
			return fmt.Errorf("%s exists: give another file with -o, or --overwrite to replace it", output)
		}
		if err := results.ProveWritable(filepath.Dir(output)); err != nil {
			return err
		}
	}
	o.Tool, _ = version.Of()
	progress := newProgress(os.Stderr)
	o.Progress = progress.show
	cli.LeaveQuit()
	ctx, stop := signal.NotifyContext(c.Context(), cli.Heeded(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)...)
	defer stop()
	p, err := measure.Measure(ctx, o)
	progress.end()
	if err != nil {
		return err
	}
	if output == "-" {
		return errors.Join(p.Write(os.Stdout), interrupted(p, "standard output"))
	}
	if err := saveSystem(p, &output); err != nil {
		return err
	}
	if err := costs.Write(c.OutOrStdout(), p); err != nil {
		return err
	}
	cli.TellFile(output)
	return interrupted(p, output)
}

// mostAtOnce is the largest number of threads or processes that a user may ask for.
const mostAtOnce = 1 << 20

// saveSystem writes the file. If that has become impossible, it writes a file in a temporary
// directory, and sets *name to this file. So the work of minutes is not lost.
func saveSystem(p *system.Profile, name *string) error {
	err := results.Save(*name, p.Write)
	if err == nil {
		return nil
	}
	dir, tempErr := os.MkdirTemp("", "ompp-system-")
	if tempErr != nil {
		return err
	}
	*name = filepath.Join(dir, filepath.Base(*name))
	if results.Save(*name, p.Write) != nil {
		return err
	}
	cli.Warn("%v; the profile is in %s", err, *name)
	return nil
}

func interrupted(p *system.Profile, where string) error {
	if !p.Interrupted {
		return nil
	}
	return fmt.Errorf("interrupted: %s has what was measured until then", where)
}

// probeCost measures the tool's probes, in ns per hit. It fails if probes may not be placed here.
func probeCost() (*system.ProbeCost, error) {
	c, err := calibration.MeasureAlone()
	if err != nil {
		return nil, err
	}
	return &system.ProbeCost{
		Mode: c.Mode, Nop5: c.Nop5.Sum(), Jump: c.Jump.Sum(), Emulated: c.Emulated.Sum(), Call: c.Call.Sum(),
		SingleStep: c.SingleStep.Sum(), Return: c.Return.Sum(), Folded: c.Folded.Sum(),
	}, nil
}
