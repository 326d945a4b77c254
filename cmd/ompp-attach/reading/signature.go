package reading

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/files"
	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/results"
	"ompp-attach/signature"
)

func signatureCommand() *cobra.Command {
	var volumes cli.Accounting
	var raw bool
	var output string
	c := &cobra.Command{
		Use:   "signature DIR",
		Short: "Write what a recorded run executed: counts, work, bytes",
		Long: `signature writes one JSON file with what a recorded run executed, per construct
and MPI call site: executions, work, counters, and the bytes of the calls. Of an
MPI job it has the spread over the ranks.`,
		Example: "  ompp-attach signature -o app.json ompp-solver-4711",
		Args:    cli.Needed(1, "which directory? give one that run or attach has written"),
		RunE: func(_ *cobra.Command, args []string) error {
			j, err := readJob(args[0], job.Options{Paths: true, Raw: raw})
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return signature.Of(j, mpi.Accounting(volumes)).Write(w) }
			if output == "-" {
				return write(os.Stdout)
			}
			if err := results.Save(output, write); err != nil {
				return err
			}
			cli.TellFile(output)
			return nil
		},
	}
	c.Flags().Var(&volumes, "volumes", "how to count the bytes of MPI's collective operations: `WAY` is one of "+cli.AccountingNames())
	c.Flags().BoolVar(&raw, "raw", false, "show times as measured, including the time that probes took")
	c.Flags().StringVarP(&output, "output", "o", "-", "write to this `FILE`; - writes to standard output")
	return c
}

// readJob reads the job in a directory, or its only process as a job of one rank.
func readJob(dir string, o job.Options) (*job.Job, error) {
	ranks, others, err := results.FindRanks(dir)
	if err != nil {
		return nil, err
	}
	isJob := len(ranks) > 0
	switch {
	case isJob:
	case len(others) == 0:
		return nil, fmt.Errorf("%s holds no recorded profile (%s): give a directory that run or attach has written", dir, results.RecordName)
	case len(others) > 1:
		return nil, fmt.Errorf("%s holds %d processes that are not of one job: give a directory with one process or one job", dir, len(others))
	default:
		name := filepath.Join(dir, others[0])
		ranks = []job.Source{{Name: others[0], Open: func() (io.ReadCloser, error) { return files.Open(name) }}}
	}
	j, err := job.Read(ranks, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if isJob {
		for _, t := range j.Troubles() {
			cli.Warn("%s", t)
		}
	}
	return j, nil
}
