package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ompp-attach/analysis"
	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
	"ompp-attach/live"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// topFlags say what top measures and how it shows that.
type topFlags struct {
	measureFlags
	pids     []int
	job      int
	duration time.Duration
	interval time.Duration
	count    int
	format   string
}

// The formats of top.
const (
	topScreen = "screen"
	topLine   = "line"
	topJSON   = "json"
)

func topCommand() *cobra.Command {
	f := topFlags{interval: time.Second}
	c := &cobra.Command{
		Use:   "top [flags] --pid PID | --job PID | -- PROGRAM [ARGS...]",
		Short: "Watch a running program: classes, regions and threads, every second",
		Long: `top measures as attach does (or, with a PROGRAM, as run does), and shows every
second where the threads' time went: by class of overhead, by region, and by
thread. Keys sort, pause, look into a region and write a snapshot; ? lists them.
q ends the measurement. An attached process goes on as before.

Without a terminal, top writes a line per second, and with --format json an
object per second. With -o the results are written as attach writes them.`,
		Example: "  ompp-attach top --pid 4711\n  ompp-attach top --job $(pgrep -n mpirun)\n  ompp-attach top --format json --count 10 --pid 4711 > windows.json",
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c, args)
		},
	}
	f.register(c, sampleAttached)
	hideFrom(c, "snapshot", "every", "quiet")
	c.Flags().Lookup("output").Usage = "write the results to this directory in the end, as attach does; snapshots go there, too"
	show := c.Flags().Lookup("format")
	show.Usage, show.DefValue = "how to show it: screen, line, json (default screen on a terminal, else line)", ""
	show.Value = (*oneWord)(&f.format)
	c.Flags().SetInterspersed(false)
	c.Flags().IntSliceVarP(&f.pids, "pid", "p", nil, "process to watch (several: A,B, or repeated)")
	c.Flags().IntVarP(&f.job, "job", "j", 0, "watch all ranks on this node of the job that this launcher (mpirun, srun) runs")
	c.Flags().DurationVarP(&f.duration, "duration", "d", 0, "how long to watch, e.g. 30s (default: until q or Ctrl-C)")
	c.Flags().DurationVar(&f.interval, "interval", f.interval, "length of a window")
	c.Flags().IntVarP(&f.count, "count", "n", 0, "end after so many windows")
	return c
}

// oneWord is a flag that takes a word.
type oneWord string

// String returns the word.
func (w *oneWord) String() string { return string(*w) }

// Type names the value in help texts.
func (w *oneWord) Type() string { return "format" }

// Set takes any word.
func (w *oneWord) Set(s string) error { *w = oneWord(s); return nil }

func hideFrom(c *cobra.Command, names ...string) {
	for _, n := range names {
		_ = c.Flags().MarkHidden(n)
	}
}

// prepareTop checks the flags and finds the processes.
func (f *topFlags) prepareTop(c *cobra.Command, args []string) error {
	given := c.Flags().Changed
	ways := 0
	for _, way := range []bool{given("pid"), given("job"), len(args) > 0} {
		if way {
			ways++
		}
	}
	usage := func(format string, args ...any) error { return &exitError{exitUsage, fmt.Errorf(format, args...)} }
	switch {
	case ways > 1:
		return usage("give one of --pid, --job and a program, not several")
	case ways == 0:
		return usage("which process? give --pid PID, --job PID for the ranks that mpirun PID has started, or a program after --")
	case f.interval < 100*time.Millisecond:
		return usage("--interval %s: give at least 100ms", f.interval)
	case f.count < 0:
		return usage("--count %d: give how many windows to show", f.count)
	case given("duration") && f.duration <= 0:
		return usage("--duration %s: give a time above 0, as in 30s", f.duration)
	}
	switch f.format {
	case "":
		if f.format = topLine; onTerminal() {
			f.format = topScreen
		}
	case topScreen:
		if !onTerminal() {
			return usage("--format screen needs a terminal; without one there are line, json")
		}
	case topLine, topJSON:
	default:
		return usage("unknown format %q; there are screen, line, json", f.format)
	}
	f.formats = results.DefaultFormats
	if err := f.check(); err != nil {
		return err
	}
	if given("job") {
		var err error
		f.pids, err = launch.JobProcesses(f.job)
		return err
	}
	return nil
}

func (f *topFlags) run(c *cobra.Command, args []string) error {
	if err := f.prepareTop(c, args); err != nil {
		return err
	}
	outliveReader()
	t := &top{f: f, ready: make(chan struct{}), over: make(chan struct{}), tracker: live.Tracker{Raw: f.view.raw}}
	if f.view.classicOverheads {
		t.tracker.Rules = analysis.Classic
	}
	if len(args) > 0 {
		return t.launch(args)
	}
	return t.attach()
}

// top is a measurement that is being watched.
type top struct {
	f       *topFlags
	m       *collect.Measurement
	out     *results.Directory
	tracker live.Tracker
	ready   chan struct{} // closed when the first window begins
	over    chan struct{} // closed when the measurement is over
	leave   func()        // ends the measurement of the programs, which go on
	goesOn  string        // tells that a launched program does so; empty: none was launched

	mu   sync.Mutex
	pids []int // that are measured, as the last frame has them; guarded by mu, as m is until the screen ends

	writing sync.Mutex // held while a snapshot is written
	written bool       // no more snapshots are written, since the measurement is over; guarded by writing
}

func (t *top) attach() error {
	slices.Sort(t.f.pids)
	t.f.pids = slices.Compact(t.f.pids)
	var program string
	for i, pid := range t.f.pids {
		name, err := target.Check(pid)
		if err == nil {
			err = target.CheckRuntime(pid)
		}
		if err != nil {
			return err
		}
		if i == 0 {
			program = name
		}
	}
	target.LookAhead(t.f.pids[0], !t.f.inline.off)
	ctx, stop := signal.NotifyContext(context.Background(), heeded(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)...)
	defer stop()
	ctx, t.leave = context.WithCancel(ctx)
	title := fmt.Sprintf("%s (process %d)", program, t.f.pids[0])
	if len(t.f.pids) > 1 {
		title = fmt.Sprintf("%s (%d processes)", program, len(t.f.pids))
	}
	return t.watch(ctx, title, program, func() (*collect.Result, error) {
		return t.m.Attach(ctx, t.f.pids, func() {
			close(t.ready)
			if t.f.duration > 0 {
				time.AfterFunc(t.f.duration, t.leave)
			}
		})
	})
}

func (t *top) launch(args []string) error {
	path, err := findProgram(args[0])
	if err != nil {
		return err
	}
	if _, ok := launch.RankOf(os.Getpid()); ok {
		return &exitError{exitUsage, errors.New("top does not launch the ranks of a job: start them by mpirun, and watch them by top --job")}
	}
	t.goesOn = filepath.Base(path) + " goes on without being measured; top waits for its end"
	ctx, left := context.WithCancel(context.Background())
	t.leave = func() {
		left()
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, pid := range t.pids {
			_ = t.m.Pause(pid)
		}
	}
	if t.f.duration > 0 {
		defer time.AfterFunc(t.f.duration, t.leave).Stop()
	}
	signals := heed()
	if t.f.format == topScreen {
		restore, err := keepOutput()
		if err != nil {
			return err
		}
		defer restore()
	}
	err = t.watch(ctx, filepath.Base(path), filepath.Base(path), func() (*collect.Result, error) {
		close(t.ready)
		return t.m.Run(path, args, signals)
	})
	var ran *exitError
	if errors.As(err, &ran) && ran.status != exitUsage {
		return err
	}
	return notStarted(err)
}

// watch measures and shows, until the measurement is over. ctx ends when the user has seen enough.
func (t *top) watch(ctx context.Context, title, program string, measure func() (*collect.Result, error)) error {
	t.out = results.Later(program)
	if t.f.out != "" {
		var err error
		if t.out, err = results.Open(t.f.out, program, 0, t.f.overwrite); err != nil {
			return err
		}
	}
	s, err := t.sink(title)
	if err != nil {
		return err
	}
	t.f.say = s.say
	started := hurry()
	m, err := t.f.measurement()
	t.mu.Lock()
	t.m = m
	t.mu.Unlock()
	started()
	if err != nil {
		close(t.over)
		s.end()
		return t.out.Abandon(err)
	}
	defer t.f.listen(t.m)()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		t.show(ctx, s)
	}()
	res, err := measure()
	close(t.over)
	<-shown
	if res != nil {
		s.show(t.tracker.Next(time.Now(), res.Profiles, true))
	}
	s.end()
	t.writing.Lock()
	t.written = true
	t.writing.Unlock()
	held := t.m.Held()
	if held != "" {
		tell(held)
		waiting, enough := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
		t.m.AwaitDebuggers(waiting)
		enough()
	}
	t.m.Close()
	if res == nil {
		return t.out.Abandon(err)
	}
	if t.f.out != "" {
		t.f.quiet = t.f.quiet || t.f.format == topJSON
		err = errors.Join(err, t.out.Write(res, t.f.wanted()))
	}
	for _, s := range res.Troubles {
		tell(s)
	}
	if err == nil && res.Exit != 0 {
		return &exitError{res.Exit, nil}
	}
	return err
}

// topRest bounds the cost of top: after a snapshot, so many times the processor time that it took
// passes before the next one.
const topRest = 20

// show shows a frame at the end of each window. Its thread measures its own processor time.
func (t *top) show(ctx context.Context, s sink) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	select {
	case <-t.ready:
	case <-t.over:
		return
	}
	next := time.Now()
	for n := 1; ; n++ {
		next = next.Add(t.f.interval)
		if time.Until(next) < 0 {
			next = time.Now()
		}
		select {
		case <-t.over:
			return
		case <-ctx.Done():
			return
		case <-time.After(time.Until(next)):
		}
		began := processorTime()
		profiles := t.profiles()
		if len(profiles) == 0 {
			n-- // nothing has begun yet
			continue
		}
		frame := t.tracker.Next(time.Now(), profiles, false)
		rest := time.Now().Add(topRest * (processorTime() - began))
		if s.show(frame) != nil || n == t.f.count {
			s.end()
			t.leave()
			return
		}
		if rest.After(next.Add(t.f.interval)) {
			next = rest.Add(-t.f.interval)
		}
	}
}

// profiles returns the profiles as of now, and notes whose they are.
func (t *top) profiles() []*profile.Profile {
	all := t.m.Snapshot().Profiles
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pids = nil
	for _, p := range all {
		if !p.Meta.SnapshotAt.IsZero() {
			t.pids = append(t.pids, p.Meta.PID)
		}
	}
	return all
}

// write writes a snapshot of all processes, and returns the name of the first file.
func (t *top) write() (string, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	m := t.m
	t.mu.Unlock()
	if m == nil || t.written {
		return "", errors.New("there is nothing to write: the measurement has not begun, or is over")
	}
	names, err := t.out.KeepSnapshots(m.Snapshot(), 0)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", errors.New("there is nothing to write: the program has ended, or nothing was measured yet")
	}
	return names[0], nil
}
