package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/hiera/load"
	"ompp-attach/report/hierarchy"
	"ompp-attach/results"
)

// hieraFlags are the flags of the command hiera.
type hieraFlags struct {
	formats  []string
	dir      string
	baseline []string
	view     hierarchy.Options
	load     load.Options
}

func hieraCommand() *cobra.Command {
	var f hieraFlags
	c := &cobra.Command{
		Use:   "hiera DIR|FILES",
		Short: "Write statistics of all levels: operations, call sites, partners",
		Long: `hiera writes the statistics of HieraAnalyses. These are

  - the operations of each process by level, by call site, and in all;
  - communication and computation;
  - the exclusive time of each library;
  - messages between processes, and operations that belong together;
  - histograms.

hiera reads a directory that run or attach has written. It also reads XML traces
in the format of HieraAnalyses, or the configuration file that names such
traces. Any tool may have written them.`,
		Example: `  ompp-attach hiera ompp-job-4711
  ompp-attach hiera --rank 0 trace*.xml
  ompp-attach hiera --format csv -o tables job.hiera.xml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which traces? give a directory that run or attach has written, or XML files")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.report(args) },
	}
	c.Flags().StringSliceVar(&f.formats, "format", []string{"text"}, "what to write: a `LIST` of "+hierarchy.Names())
	c.Flags().StringVarP(&f.dir, "output", "o", "", "write files to this `DIR`")
	c.Flags().StringSliceVar(&f.baseline, "baseline", nil, "`SECONDS` that the program takes without being measured: one number, or one for each process")
	c.Flags().IntVar(&f.view.Rank, "rank", -1, "show the call sites of this `RANK` in the text (default: of all together)")
	cli.HideDefault(c, "rank")
	c.Flags().BoolVar(&f.view.All, "all", false, "show all rows in the text")
	c.Flags().BoolVar(&f.load.Raw, "raw", false, "show times as measured, including the time that probes took")
	return c
}

func (f *hieraFlags) report(args []string) error {
	for _, text := range f.baseline {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0 && v < 1e9) {
			return cli.Misuse(fmt.Errorf("--baseline %q: give seconds, as in 12.5", text))
		}
		f.view.Plain = append(f.view.Plain, int64(v*1e9))
	}
	var outputs []hierarchy.File
	for _, n := range f.formats {
		format, ok := hierarchy.FormatNamed(n)
		if !ok {
			return cli.Misuse(fmt.Errorf("unknown format %q; there are %s", n, hierarchy.Names()))
		}
		outputs = append(outputs, format.Files...)
	}
	if len(outputs) != 1 && f.dir == "" {
		return cli.Misuse(errors.New("these formats have several files: give a directory with -o"))
	}
	l, err := load.Paths(args, f.load)
	if err != nil {
		return err
	}
	for _, t := range l.Troubles {
		cli.Warn("%s", t)
	}
	if n := len(f.view.Plain); n > 1 && n != len(l.Processes) {
		return cli.Misuse(fmt.Errorf("--baseline has %d times, and there are %d processes: give one for all, or one for each", n, len(l.Processes)))
	}
	if !l.Has(f.view.Rank) {
		return cli.Misuse(fmt.Errorf("--rank %d: there is no process of this rank", f.view.Rank))
	}
	f.view.Graph = l.Graph
	if f.dir == "" {
		return outputs[0].Write(os.Stdout, l.Statistics, f.view)
	}
	dir, err := reportDirectory("", f.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range outputs {
		name := filepath.Join(dir, o.Name)
		err := results.Save(name, func(w io.Writer) error { return o.Write(w, l.Statistics, f.view) })
		switch {
		case errors.Is(err, hierarchy.ErrNothing):
		case err != nil:
			errs = append(errs, err)
		default:
			cli.TellFile(name)
		}
	}
	return errors.Join(errs...)
}
