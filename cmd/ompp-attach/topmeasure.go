package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
	"ompp-attach/profile"
	"ompp-attach/results"
	"ompp-attach/snapshots"
	"ompp-attach/top"
)

// topRun is a measurement that top itself makes.
type topRun struct {
	f     *topFlags
	m     *collect.Measurement
	out   *results.Directory
	shots *snapshots.Writer // for the key that writes a snapshot, and for other runs of the tool
	view  *top.View
}

// begin opens the view and loads the kernel side.
func (f *topFlags) begin(title, program string) (*topRun, error) {
	t := &topRun{f: f, out: results.Later(program), shots: snapshots.New(snapshots.Pace{})}
	if f.out != "" {
		var err error
		if t.out, err = results.Open(f.out, program, 0, f.overwrite); err != nil {
			return nil, err
		}
		f.timeline.out = t.out
	}
	t.view = f.open(title, func() (string, error) { return t.shots.Keep(0) })
	f.say = t.view.Say
	started := hurry()
	var err error
	t.m, err = f.measurement()
	started()
	if err != nil {
		t.view.Close()
		return nil, t.out.Abandon(err)
	}
	t.m.OnDump(t.shots.Keep)
	return t, nil
}

// follow shows windows until done is called. done waits until no window is being shown. each is
// called before each window.
func (t *topRun) follow(each func()) (done func()) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	stop := t.shots.Add(&snapshots.Program{To: t.out, Take: t.m.Snapshot, Whole: t.m.SnapshotWhole, Measures: t.m.Measures, Say: t.f.say, Logf: t.f.logf})
	go func() {
		defer close(over)
		_ = t.view.Follow(ctx, func() ([]*profile.Profile, time.Duration, error) {
			each()
			return t.m.Snapshot().Profiles, 0, nil
		})
	}()
	return func() {
		cancel()
		<-over
		stop()
	}
}

// end shows the last window, ends the view, and writes the results.
func (t *topRun) end(res *collect.Result, err error) error {
	if res != nil {
		t.view.Final(res.Profiles)
	}
	t.view.Close()
	t.f.say = cli.Tell
	if held := t.m.Held(); held != "" {
		cli.Tell(held)
		waiting, enough := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
		t.m.AwaitDebuggers(waiting)
		enough()
	}
	t.m.Close()
	if res == nil { // a program that top has launched was not started, or was killed
		t.out.DropOutput()
		return t.out.Abandon(err)
	}
	if t.f.out != "" {
		t.f.quiet = t.f.quiet || t.f.format == top.JSON
		err = errors.Join(err, t.out.Write(res, t.f.wanted()))
	}
	for _, s := range res.Troubles {
		cli.Tell(s)
	}
	return err
}

// attach measures and shows running processes.
func (f *topFlags) attach(program string) error {
	for _, pid := range f.pids {
		if err := f.checkRuntime(pid); err != nil {
			return err
		}
	}
	target.ReadAhead(f.pids[0], !f.inline.off)
	ctx, stop := f.untilEnough()
	defer stop()
	t, err := f.begin(titleOf(program, f.pids), program)
	if err != nil {
		return err
	}
	defer f.listen(t.m)()
	defer context.AfterFunc(leftOf(t.view), stop)()
	done := func() {}
	res, err := t.m.Attach(ctx, f.pids, func() {
		if f.duration > 0 {
			time.AfterFunc(f.duration, stop)
		}
		done = t.follow(func() {})
	})
	done()
	return t.end(res, err)
}

// untilEnough returns a context that a signal ends.
func (f *topFlags) untilEnough() (context.Context, context.CancelFunc) {
	cli.LeaveQuit()
	return signal.NotifyContext(context.Background(), cli.Heeded(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)...)
}

// leftOf returns a context that ends when the user leaves a view.
func leftOf(v *top.View) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-v.Left()
		cancel()
	}()
	return ctx
}

func titleOf(program string, pids []int) string {
	if len(pids) > 1 {
		return fmt.Sprintf("%s (%d processes)", program, len(pids))
	}
	return fmt.Sprintf("%s (process %d)", program, pids[0])
}

// launch launches a program, measures it and shows the measurement. If the user ends the view, the
// program goes on without being measured.
func (f *topFlags) launch(args []string) error {
	path, err := findProgram(args[0])
	if err != nil {
		return err
	}
	if _, ok := launch.RankOf(os.Getpid()); ok {
		return cli.Misuse(errors.New("top does not launch the ranks of a job: start them by mpirun, and watch them by top --job"))
	}
	program := filepath.Base(path)
	signals := heed()
	t, err := f.begin(program, program)
	if err != nil {
		return err
	}
	defer f.listen(t.m)()
	streams, each := launch.OwnStreams(), func() {}
	var output *top.Output
	if f.format == top.Screen {
		if output, err = top.KeepOutput(t.out); err != nil {
			return t.end(nil, err)
		}
		defer output.Close()
		streams, each = output.Streams, output.Bound
	}
	run, err := t.m.Launch(path, args, streams, signals)
	if err != nil {
		return t.end(nil, notStarted(err))
	}
	done := t.follow(each)
	var enough <-chan time.Time
	if f.duration > 0 {
		enough = time.After(f.duration)
	}
	select {
	case <-run.Ended():
	case <-t.view.Left():
	case <-enough:
	}
	done()
	res, err := run.End()
	err = t.end(res, err)
	select {
	case <-run.Ended():
	default:
		cli.Tell(program + " goes on without being measured; top waits for its end")
	}
	if output != nil {
		output.Show(run.Ended(), cli.Tell)
	}
	if status := run.Status(); err == nil && status != 0 {
		return &cli.Exit{Status: status, Err: nil}
	}
	return err
}

// sortedPIDs returns each process once.
func sortedPIDs(pids []int) []int {
	pids = slices.Clone(pids)
	slices.Sort(pids)
	return slices.Compact(pids)
}
