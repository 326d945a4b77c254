package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ompp-attach/attribution/stream"
	"ompp-attach/bpf"
	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect"
	"ompp-attach/collect/control"
	"ompp-attach/collect/launch"
	"ompp-attach/debuginfod"
	"ompp-attach/results"
	"ompp-attach/symbols"
)

// measureFlags are the flags that run and attach share.
type measureFlags struct {
	out       string
	formats   []string
	overwrite bool
	quiet     bool
	verbose   bool
	trace     bool   // --trace: nothing is folded in the kernel side
	derive    bool   // --derive-edges: some edges are derived, not measured
	mode      string // hidden: how probes are attached, see attachModes
	events    string // hidden: file for the event stream of the first process
	user      userFlags
	inline    inlineFlags
	counters  counterFlags
	view      cli.View
	sample    sampleFlags
	budget    budgetFlag
	timeline  timelineFlag
	waits     bool          // --waits: each MPI call is recorded
	sched     bool          // --sched: times off the core are recorded
	snapshot  time.Duration // time between snapshots; 0: no snapshots
	// Time between snapshots that are kept; 0: none is kept.
	every time.Duration
	rest  int                                    // hidden: see snapshots.Pace
	say   func(sentence string)                  // tells the user at once
	keep  func(pid int) (name string, err error) // writes a snapshot at once; 0: of all processes
	// Closed when nobody waits for the results any more; nil: never.
	gone <-chan struct{}
}

// register adds the flags to c. sample is the default of --sample.
func (f *measureFlags) register(c *cobra.Command, sample string) {
	f.say = cli.Tell
	f.inline.register(c)
	f.counters.register(c)
	f.view.Register(c)
	f.sample.register(c, sample)
	f.budget.register(c)
	f.timeline.register(c)
	c.Flags().BoolVar(&f.waits, "waits", false, "record each MPI call: report --properties of the job then says which rank waited for which")
	c.Flags().BoolVar(&f.sched, "sched", false, "watch the scheduler: the report then divides waits into time on a core, asleep, preempted and woken late")
	c.Flags().StringVarP(&f.out, "output", "o", "", "`DIR` for the results (default ompp-PROGRAM-PID; of a rank ompp-job-JOB)")
	c.Flags().StringSliceVar(&f.formats, "format", results.DefaultFormats, "reports to write: a `LIST` of "+results.FormatNames())
	c.Flags().BoolVar(&f.overwrite, "overwrite", false, "replace a profile that is already in the directory")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print no summary at the end")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "tell each step")
	c.Flags().BoolVar(&f.trace, "trace", false, "add up no executions of critical sections, locks and the like in the kernel; the profile is the same")
	c.Flags().BoolVar(&f.derive, "derive-edges", false, "pay less for short regions and barriers: most of their ends are derived, and reports give intervals")
	c.Flags().DurationVar(&f.snapshot, "snapshot", snapshotEvery, "save the results every `TIME`, so that no more is lost if ompp-attach is killed; 0: never")
	c.Flags().DurationVar(&f.every, "every", 0, "write a snapshot every `TIME`, and keep each of them for report --delta")
	c.Flags().IntVar(&f.rest, "snapshot-rest", snapshotRest, "how many times the cost of a snapshot passes before the next")
	_ = c.Flags().MarkHidden("snapshot-rest")
	c.Flags().StringVar(&f.mode, "attach-mode", "", "attach as older kernels have to: multi, perf")
	_ = c.Flags().MarkHidden("attach-mode")
	c.Flags().StringVar(&f.events, "record-events", "", "write the event stream of the first process to this file")
	_ = c.Flags().MarkHidden("record-events")
	f.user.register(c)
	_ = c.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(results.FormatNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
}

// attachModes are the values of --attach-mode, and the best mode that each allows.
var attachModes = map[string]bpf.Mode{"": bpf.Session, "session": bpf.Session, "multi": bpf.Multi, "perf": bpf.Perf}

// wanted returns the results that the flags ask for.
func (f *measureFlags) wanted() *results.Wanted {
	return &results.Wanted{Formats: f.formats, View: f.view.Options(), Quiet: f.quiet, Summary: cli.Spoken, Say: f.say, Gone: f.gone}
}

func (f *measureFlags) logf(format string, args ...any) {
	if f.verbose {
		f.say(fmt.Sprintf(format, args...))
	}
}

// listen lets other runs of the tool control the measurement (pause, resume, dump, top), until stop
// is called. If that is impossible, the measurement goes on without it.
func (f *measureFlags) listen(m *collect.Measurement) (stop func()) {
	stop, err := control.Listen(m)
	if err != nil {
		f.logf("%v", err)
		return func() {}
	}
	return stop
}

// measurement loads the kernel side and sets it up as the flags say.
func (f *measureFlags) measurement() (*collect.Measurement, error) {
	l, err := f.load()
	if err != nil {
		return nil, err
	}
	return l.measurement()
}

// loading is a kernel side that is being loaded in a goroutine.
type loading struct {
	f *measureFlags
	// Why the hardware counters cannot be used, a sentence; empty if they can, or are not wanted.
	why  string
	done chan struct{}
	m    *collect.Measurement
	err  error

	servers *debuginfod.Client // nil: no servers of debug files
}

// load begins to load the kernel side with the counters that the flags ask for. The loading goes on
// in a goroutine after load has returned.
func (f *measureFlags) load() (*loading, error) {
	counters, why, err := f.counters.wanted(f.view.Evaluators)
	if err != nil {
		return nil, err
	}
	l := &loading{f: f, why: why, done: make(chan struct{}), servers: debugServers(nil)}
	if l.servers != nil && !f.quiet {
		l.servers.Say = f.say
	}
	if l.servers != nil {
		symbols.UseDebugFiles(l.servers.Cached)
	}
	go func() {
		defer close(l.done)
		l.m, l.err = collect.New(attachModes[f.mode], f.logf, counters...)
	}()
	return l, nil
}

// abandon waits until the kernel side is loaded, and frees it.
func (l *loading) abandon() {
	if <-l.done; l.err == nil {
		l.m.Close()
	}
}

// measurement waits until the kernel side is loaded, and sets it up as the flags say.
func (l *loading) measurement() (*collect.Measurement, error) {
	<-l.done
	m, f := l.m, l.f
	if l.err != nil {
		return nil, diagnose(l.err)
	}
	m.Evaluate(f.view.Evaluators)
	fetchAtEnd(l.servers, m)
	if !f.quiet {
		m.Say(f.say)
	}
	if l.why != "" && !f.quiet {
		f.say(l.why + ": no counters are read (--counters takes others, which `ompp-attach counters` lists)")
	}
	for _, s := range m.CounterNotes() {
		f.say(s)
	}
	f.inline.apply(m)
	if err := f.budget.apply(m); err != nil {
		m.Close()
		return nil, err
	}
	if err := f.timeline.apply(m); err != nil {
		m.Close()
		return nil, err
	}
	if f.trace {
		m.Trace()
	}
	if !f.derive {
		m.ExactEdges()
	}
	if f.events != "" {
		m.RecordEvents()
	}
	if err := f.sample.apply(m, f.logf); err != nil {
		m.Close()
		return nil, err
	}
	if err := f.user.apply(m, f.logf, f.say); err != nil {
		m.Close()
		return nil, err
	}
	if err := f.recordCalls(m); err != nil {
		m.Close()
		return nil, err
	}
	if f.sched {
		if err := m.TraceSched(); err != nil {
			m.Close()
			return nil, fmt.Errorf("--sched: %w", err)
		}
	}
	return m, nil
}

// recordCalls makes a measurement record MPI calls one by one if --waits asks for that.
func (f *measureFlags) recordCalls(m *collect.Measurement) error {
	if !f.waits {
		return nil
	}
	if err := m.RecordCalls(); err != nil {
		return cli.Misuse(fmt.Errorf("--waits: %w, which --disable or --only leaves out", err))
	}
	return nil
}

// saveStream writes the recorded events of the first process if --record-events asks for them.
func (f *measureFlags) saveStream(res *collect.Result) error {
	if f.events == "" || len(res.Streams) == 0 {
		return nil
	}
	return results.Save(f.events, func(w io.Writer) error { return stream.Encode(w, res.Streams[0]) })
}

// check refuses flags with invalid values.
func (f *measureFlags) check() error {
	if err := results.CheckFormats(f.formats); err != nil {
		return cli.Misuse(err)
	}
	if err := f.sample.check(); err != nil {
		return cli.Misuse(err)
	}
	if _, err := f.budget.share(); err != nil {
		return cli.Misuse(err)
	}
	if err := f.timeline.check(!f.trace); err != nil {
		return cli.Misuse(err)
	}
	if f.snapshot < 0 {
		return cli.Misuse(fmt.Errorf("--snapshot %s: give how much time lies between two snapshots, as 1m, or 0 for none", f.snapshot))
	}
	if f.every < 0 {
		return cli.Misuse(fmt.Errorf("--every %s: give a time above 0, as in 10s", f.every))
	}
	if _, ok := attachModes[f.mode]; !ok {
		return cli.Misuse(fmt.Errorf("unknown attach mode %q: there are session, multi, perf", f.mode))
	}
	_, _, err := f.counters.wanted(f.view.Evaluators)
	return err
}

// prepare checks the flags and opens the results directory. So their errors come before anything is
// measured.
func (f *measureFlags) prepare(program string, pid int) (*results.Directory, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return results.Open(f.out, program, pid, f.overwrite)
}

func runCommand() *cobra.Command {
	var f measureFlags
	c := &cobra.Command{
		Use:   "run [flags] -- PROGRAM [ARGS...]",
		Short: "Launch a program and profile it from its first instruction",
		Long: `run launches PROGRAM, and profiles the program and the processes that the
program starts. At the end it prints a summary, and names the files with reports.

The program keeps its standard streams, environment, working directory and
signals. Its exit status becomes the exit status of ompp-attach (128+N if signal
N killed the program). /bin/sh reads a script without #!.
` + flagsText,
		Annotations: map[string]string{cli.Manual: manualText},
		Example:     "  ompp-attach run -- ./solver input.dat\n  OMP_NUM_THREADS=8 ompp-attach run -o results -- ./solver",
		Args:        cli.Needed(math.MaxInt, "which program? give it after the flags, as in: ompp-attach run -- ./solver input.dat"),
		RunE: func(c *cobra.Command, args []string) error {
			if r, ok := launch.RankOf(os.Getpid()); ok {
				return runRank(&f, c, r, args)
			}
			if err := launch.BehindSlurm(args, flagsBefore(args)); err != nil {
				return cli.Misuse(err)
			}
			return run(&f, args)
		},
	}
	f.register(c, sampleLaunched)
	c.Flags().SetInterspersed(false)
	return c
}

func run(f *measureFlags, args []string) error {
	path, err := findProgram(args[0])
	if err != nil {
		return err
	}
	out, err := f.prepare(filepath.Base(path), 0)
	if err != nil {
		return err
	}
	f.timeline.out = out
	signals := heed()
	started := hurry()
	m, err := f.measurement()
	started()
	if err != nil {
		return out.Abandon(err)
	}
	defer f.listen(m)()
	out.Begins(os.Getpid()) // the tool runs for as long as the program does
	stop := f.snapshots(out, m)
	res, err := m.Run(path, args, signals)
	stop()
	defer closing(m)()
	return f.conclude(out, res, err, path)
}

// closing frees the kernel side in a goroutine: that is mostly waiting for the kernel, and the
// caller writes the results meanwhile. closed waits until all is freed.
func closing(m *collect.Measurement) (closed func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Close()
	}()
	return func() { <-done }
}

// heed catches signals until the tool ends. The results must not be lost by a second Ctrl-C, or
// because the user leaves the pager that shows the output.
func heed() <-chan os.Signal {
	cli.OutliveReader()
	cli.LeaveQuit()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, cli.Heeded(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)...)
	return signals
}

// conclude writes the results of a launched program. The error has the tool's exit status.
func (f *measureFlags) conclude(out *results.Directory, res *collect.Result, err error, path string) error {
	if res == nil {
		return out.Abandon(notStarted(err))
	}
	if err = errors.Join(err, out.Write(res, f.wanted()), f.saveStream(res)); err != nil {
		return err
	}
	for _, s := range res.Troubles {
		f.say(s)
	}
	if len(res.Profiles) == 0 && len(res.Troubles) == 0 && out.First() {
		f.say(fmt.Sprintf("there is no profile: %s used no OpenMP runtime (libgomp, libomp, libiomp5) and no MPI library that can be seen; `ompp-attach check` says what can be measured", path))
	}
	if res.Exit != 0 {
		return &cli.Exit{Status: res.Exit, Err: unfound(res)}
	}
	return unfound(res)
}

// notStarted gives an error the exit status that shells use if a program could not be run.
func notStarted(err error) error {
	var ee *launch.ExecError
	var ie *launch.InterruptedError
	switch {
	case errors.As(err, &ee):
		return &cli.Exit{Status: cli.CannotRun, Err: err}
	case errors.As(err, &ie):
		return &cli.Exit{Status: 128 + int(ie.Signal), Err: err}
	}
	return err
}

// findProgram finds a program as a shell would. The error says in one sentence why the program
// cannot be run, and has the exit status of a shell.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	if !strings.Contains(name, "/") {
		return "", &cli.Exit{Status: cli.NotFound, Err: fmt.Errorf("%s: not found in PATH; for a program in the current directory write ./%s", name, name)}
	}
	st, serr := os.Stat(name)
	switch {
	case serr != nil:
		return "", &cli.Exit{Status: cli.NotFound, Err: fmt.Errorf("%s: no such program", name)}
	case st.IsDir():
		return "", &cli.Exit{Status: cli.CannotRun, Err: fmt.Errorf("%s is a directory: give the program in it", name)}
	}
	return "", &cli.Exit{Status: cli.CannotRun, Err: fmt.Errorf("%s is not executable: check its permissions (chmod +x) and that it is a program", name)}
}
