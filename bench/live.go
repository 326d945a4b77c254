package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// live is what a timeline has recorded of threads that do nothing but execute a construct, and what
// that took.
type live struct {
	operation
	flags   []string
	rate    []float64 // executions that the threads made per second
	share   []float64 // the tool's processor time, as a part of the turn's
	perSpan []float64 // the tool's processor time for each span, s
	spans   spans
}

// liveMillis is how long a turn lasts: long against what attaching and a full ring take.
const liveMillis = 1000

// lives are the operations. Locks are added up by the kernel side, but for --trace.
func lives() []*live {
	trace := []string{"--trace"}
	return []*live{
		{operation: operation{title: "barrier", mode: "barrier", threads: 1}},
		{operation: operation{title: "barrier", mode: "barrier", threads: runtime.NumCPU()}},
		{operation: operation{title: "taskwait", mode: "taskwait", threads: 1}},
		{operation: operation{title: "lock, free, with `--trace`", mode: "lock", threads: 1}, flags: trace},
		{operation: operation{title: "lock, contended, with `--trace`", mode: "lock", threads: runtime.NumCPU()}, flags: trace},
	}
}

// measureLive records timelines of a program built with gcc.
func measureLive(t target, dir string) ([]*live, error) {
	t, err := t.build("ops.c", dir)
	if err != nil {
		return nil, err
	}
	p, err := t.start()
	if err != nil {
		return nil, err
	}
	defer p.stop()
	all := lives()
	for range fewer() {
		for _, l := range all {
			if err := l.turn(p, dir); err != nil {
				return nil, fmt.Errorf("%s: %w", l.title, err)
			}
		}
	}
	return all, nil
}

// turn attaches the tool, lets the program work, and counts what is in the file.
func (l *live) turn(p *process, dir string) (err error) {
	cmd := toolCommand(p.pid(), dir, append([]string{"--timeline", "all,4G", "--format", "json"}, l.flags...)...)
	stop, err := startUntil(cmd, cmd.StderrPipe, attachedAndCalibrated())
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			err = errors.Join(err, stop())
		}
	}()
	before, err := settledTime(cmd.Process.Pid)
	if err != nil {
		return err
	}
	begin := time.Now()
	if _, _, err = p.perform(&l.operation, liveMillis); err != nil {
		return err
	}
	took := time.Since(begin)
	after, err := settledTime(cmd.Process.Pid)
	if err != nil {
		return err
	}
	stopped = true
	if err := stop(); err != nil {
		return err
	}
	var s spans
	if err := s.count(filepath.Join(dir, "profile", "profile.timeline")); err != nil {
		return err
	}
	l.spans.add(s)
	made := float64(s.recorded + s.dropped)
	if made == 0 {
		return errors.New("nothing was recorded")
	}
	l.rate = append(l.rate, made/took.Seconds())
	l.share = append(l.share, (after-before).Seconds()/took.Seconds())
	l.perSpan = append(l.perSpan, (after-before).Seconds()/made)
	return nil
}

// settledTime waits until a process does next to nothing, and returns the processor time that it
// has used. Then it has recorded what it was told.
func settledTime(pid int) (time.Duration, error) {
	const (
		pause  = 100 * time.Millisecond
		little = 4 * time.Millisecond // an idle tool takes 1 to 2
		pauses = 4                    // in a row: on a busy machine the tool may wait for a core
		tries  = 300
	)
	last, still := time.Duration(0), 0
	for range tries {
		now, err := processorTime(pid)
		if err != nil {
			return 0, err
		}
		if still++; now-last >= little {
			still = 0
		}
		if still == pauses {
			return now, nil
		}
		last = now
		time.Sleep(pause)
	}
	return 0, fmt.Errorf("process %d is busy still after %s", pid, tries*pause)
}

// processorTime returns the processor time that a process has used (clock_getcpuclockid(3)).
func processorTime(pid int) (time.Duration, error) {
	const sched = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

func (s *spans) add(o spans) {
	s.recorded, s.dropped, s.unknown = s.recorded+o.recorded, s.dropped+o.dropped, s.unknown || o.unknown
}

// most returns the operation of which most executions per second were recorded without loss; nil:
// there is none.
func most(all []*live) (best *live) {
	for _, l := range all {
		if !l.spans.unknown && l.spans.dropped == 0 && (best == nil || spreadOf(l.rate).median > spreadOf(best.rate).median) {
			best = l
		}
	}
	return best
}

// liveGoal says how far the goal for recording is met beside a program.
func liveGoal(all []*live) (found, met string) {
	best, fastest := most(all), 0.0
	for _, l := range all {
		fastest = max(fastest, spreadOf(l.rate).median)
	}
	if best == nil {
		return fmt.Sprintf("%.2f were executed, some lost", fastest/1e6), verdict(false)
	}
	rate := spreadOf(best.rate).median
	found = fmt.Sprintf("%.2f, by %.0f %% of a core (%s, threads: %d); a million would take %.0f %% (derived)", rate/1e6, 100*spreadOf(best.share).median,
		best.title, best.threads, 1e8*spreadOf(best.perSpan).median)
	switch {
	case rate >= 1e6*goalSpans:
		return found, verdict(true)
	case rate >= fastest:
		return found, "not told: the probed threads execute no more"
	}
	return found, verdict(false)
}

func (r *results) writeLive(p *page) {
	if len(r.live) == 0 {
		return
	}
	p.line("## What a timeline records of a running program")
	p.line("")
	p.line("Threads that do nothing but execute a construct (`bench/programs/ops.c`, libgomp), with `--timeline all`, on the %d cores that the tool has, too.", runtime.NumCPU())
	p.line("A turn lasts a second. *executed*: millions per second; each hit of a probe takes its thread half a microsecond, which is what limits them.")
	p.line("*lost*: of all turns' executions. *tool*: its processor time, in percent of one core, until it has written what it was told; *per span*: the same in ns.")
	p.line("")
	p.head("construct", ">threads", ">executed, M/s", ">spans lost", ">tool, %", ">per span, ns")
	for _, l := range r.live {
		p.row(l.title, fmt.Sprint(l.threads), figure(spreadOf(l.rate).times(1e-6), true, "%.2f"), l.spans.String(),
			figure(spreadOf(l.share).times(100), true, "%.0f"), figure(spreadOf(l.perSpan).times(1e9), true, "%.0f"))
	}
	p.line("")
}
