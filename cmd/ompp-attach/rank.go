package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect/launch"
	"ompp-attach/node"
	"ompp-attach/results"
	"ompp-attach/version"
)

// runRank is `run` for a rank of a job. It launches the program and leaves the measurement to the
// node's collector.
func runRank(f *measureFlags, c *cobra.Command, r launch.Rank, args []string) error {
	if r.Job == "" { // the ranks have only their parent process in common
		r.Job = fmt.Sprintf("%s%d", launch.NamelessPrefix, os.Getppid())
	}
	f.say = func(s string) { cli.Tell(fmt.Sprintf("rank %d: %s", r.Rank, s)) }
	err := f.rank(c, r, args)
	var ee *cli.Exit
	if errors.As(err, &ee) && ee.Err != nil && ee.Err.Error() != "" {
		ee.Err = fmt.Errorf("rank %d: %w", r.Rank, ee.Err)
	} else if err != nil && ee == nil {
		err = fmt.Errorf("rank %d: %w", r.Rank, err)
	}
	return err
}

func (f *measureFlags) rank(c *cobra.Command, r launch.Rank, args []string) error {
	signals := heed()
	l, s, err := f.handOver(c, r, args)
	if err != nil {
		return notRun(r, err)
	}
	if err := l.Start(signals); err != nil {
		s.Close()
		return notRun(r, notStarted(err))
	}
	// mpirun, hydra and srun send signals to a rank's process group, so the program has got them
	// already. A signal that would end the program may be sent twice.
	handled := func() {}
	if launch.UnderHydra() {
		handled = launch.DieWith(l)
	}
	e := l.Wait(signals, func(s syscall.Signal) bool { return !l.Catches(s) })
	if e.Status != 0 && launch.UnderHydra() {
		return f.leave(s, e, r)
	}
	handled()
	err = concludeRank(s, e, l.PID(), f.say)
	var ee *cli.Exit
	if e.Signal != 0 && errors.As(err, &ee) && ee.Status == e.Status {
		return &killedError{ee, e.Signal}
	}
	return err
}

// handOver makes the process of the program, which does not run yet, and has the collector follow
// the process.
func (f *measureFlags) handOver(c *cobra.Command, r launch.Rank, args []string) (*launch.Launched, *node.Session, error) {
	path, err := findProgram(args[0])
	if err != nil {
		return nil, nil, err
	}
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	req := &node.Request{Rank: r, Flags: flagsBefore(args)}
	if req.Dir, err = os.Getwd(); err != nil {
		return nil, nil, err
	}
	if req.Program, err = filepath.Abs(path); err != nil {
		return nil, nil, err
	}
	where, err := node.Meet(f.common(c, r), req.Flags)
	if err != nil {
		return nil, nil, err
	}
	l, err := launch.Prepare(path, args, launch.OwnStreams())
	if err != nil {
		return nil, nil, err
	}
	// The files that the launcher has opened stay open in the tool, too. MPICH's launcher takes the
	// end of such a file for a failure, and would kill the tool before the tool could end as the
	// program did.
	req.PID = l.PID()
	s, err := where.HandOver(req, f.say)
	if err != nil {
		l.Abandon()
		var refused *node.Over
		if errors.As(err, &refused) {
			err = errorOf(refused)
		}
		return nil, nil, err
	}
	return l, s, nil
}

// ownFlags are the flags that may differ between ranks that share a collector.
var ownFlags = []string{"output", "format", "overwrite", "quiet", "verbose", "volumes", "classic", "classic-overheads", "raw"}

// common returns the properties that the tools of one collector have in common: job, version, and
// all flags but ownFlags.
func (f *measureFlags) common(c *cobra.Command, r launch.Rank) []string {
	tool, built := version.Of()
	key := []string{r.Job, tool, built}
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(ownFlags, f.Name) {
			key = append(key, f.Name, f.Value.String())
		}
	})
	return key
}

// overOf returns the outcome of a rank's measurement. err is the error of the measurement, or nil.
func overOf(err error) *node.Over {
	o := &node.Over{}
	if err != nil {
		o.Status, o.Sentence = cli.Failure, err.Error()
		var ee *cli.Exit
		if errors.As(err, &ee) {
			o.Status = ee.Status
		}
	}
	return o
}

// errorOf returns the error that ends the tool with an outcome, or nil for an outcome without one.
func errorOf(o *node.Over) error {
	if o.Status == 0 && o.Sentence == "" {
		return nil
	}
	if o.Sentence == "" {
		return &cli.Exit{Status: o.Status, Err: nil}
	}
	return &cli.Exit{Status: o.Status, Err: errors.New(o.Sentence)}
}

// notRun ends the whole job if one of its ranks cannot run. MPICH's launcher ignores a failure
// before MPI_Init, and the other ranks would wait for ever.
func notRun(r launch.Rank, err error) error {
	if !launch.UnderHydra() || r.Size == 1 {
		return err
	}
	return &killedError{&cli.Exit{Status: overOf(err).Status, Err: err}, syscall.SIGABRT}
}

// killedError ends the tool by the signal that killed the program.
type killedError struct {
	*cli.Exit
	signal syscall.Signal
}

// Unwrap lets errors.As find the exit status.
func (e *killedError) Unwrap() error { return e.Exit }

// flagsBefore returns the tool's own flags of our command line, without the program and its
// arguments.
func flagsBefore(args []string) []string {
	flags := os.Args[:len(os.Args)-len(args)]
	flags = flags[slices.Index(flags, "run")+1:]
	if n := len(flags); n > 0 && flags[n-1] == "--" {
		flags = flags[:n-1]
	}
	return flags
}

// leave ends the tool at once, as the program has ended, and leaves the writing of files to the
// collector. When a rank's process fails, hydra kills the others, and combines all exit statuses by
// a bitwise or. A tool that waited for its files would be killed (9), and a Ctrl-C (2) would become
// a segmentation fault (11).
func (f *measureFlags) leave(s *node.Session, e launch.Ending, r launch.Rank) error {
	s.Leave(e)
	if !f.quiet && r.Rank == 0 {
		f.say(fmt.Sprintf("the results are being written to %s: `ompp-attach report` waits for them", s.Dir))
	}
	failed := &cli.Exit{Status: e.Status, Err: nil}
	if e.Signal != 0 {
		return &killedError{failed, e.Signal}
	}
	return failed
}

// concludeRank waits until a rank's files are written, and returns the error that ends the rank's
// tool.
func concludeRank(s *node.Session, e launch.Ending, pid int, say func(string)) error {
	if o := s.Conclude(e); o != nil {
		return errorOf(o)
	}
	if p, name := results.CompleteSnapshot(s.Dir, pid, e); p != nil {
		say(fmt.Sprintf("the collector of this node was killed, the program ran on: a snapshot of what was measured until %s is in %s", p.Meta.SnapshotAt.Local().Format(time.DateTime), name))
	} else {
		say("the collector of this node was killed, the program ran on: there is no profile of this rank")
	}
	if e.Status != 0 {
		return &cli.Exit{Status: e.Status, Err: nil}
	}
	return nil
}
