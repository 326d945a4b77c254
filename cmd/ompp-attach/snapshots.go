package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/results"
)

// A tool that is killed loses what it has measured. So what was measured so far is written at
// intervals, under the names that the profiles will have at the end.

// snapshotEvery is the default time between snapshots: as much of a measurement may be lost.
const snapshotEvery = time.Minute

// snapshotShare bounds the cost of snapshots. After a snapshot, so many times the processor time
// that it took passes before the next one.
const snapshotShare = 100

// snapshots writes the snapshots of several programs, one after the other.
type snapshots struct {
	every time.Duration
	rest  int  // see snapshotShare
	keep  bool // --every: each snapshot is kept, in a file of its own
	mu    sync.Mutex
	all   []*shot
}

// shot writes the snapshots of one program.
type shot struct {
	out     *results.Directory
	keep    bool
	take    func() *collect.Result
	say     func(string)
	logf    func(string, ...any)
	mu      sync.Mutex // held while a snapshot is written
	over    bool
	failed  bool      // the user has been told that a snapshot could not be written
	written time.Time // when the last snapshot began; before it, when the program was added
}

// snapshots writes snapshots of one program until stop is called. After stop no snapshot is being
// written.
func (f *measureFlags) snapshots(out *results.Directory, m *collect.Measurement) (stop func()) {
	s := f.newSnapshots()
	m.OnDump(s.dump)
	return s.add(&shot{out: out, take: m.Snapshot, say: f.say, logf: f.logf})
}

// newSnapshots returns the snapshots that the flags ask for.
func (f *measureFlags) newSnapshots() *snapshots {
	if f.every > 0 {
		return &snapshots{every: f.every, rest: f.rest, keep: true}
	}
	return &snapshots{every: f.snapshot, rest: f.rest}
}

// add adds a program, until stop is called.
func (s *snapshots) add(x *shot) (stop func()) {
	x.written, x.keep = time.Now(), s.keep
	s.mu.Lock()
	s.all = append(s.all, x)
	if len(s.all) == 1 && s.every > 0 {
		go s.run()
	}
	s.mu.Unlock()
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.over = true
	}
}

// next returns the program whose last snapshot is the oldest; nil if all programs are over.
func (s *snapshots) next() (oldest *shot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.all[:0]
	for _, x := range s.all {
		x.mu.Lock()
		if !x.over {
			kept = append(kept, x)
			if oldest == nil || x.written.Before(oldest.written) {
				oldest = x
			}
		}
		x.mu.Unlock()
	}
	s.all = kept
	return oldest
}

// run writes the snapshots. Its thread has a low priority, so that the program gets the processors
// first.
func (s *snapshots) run() {
	const polite = 10
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), polite)
	const look = 50 * time.Millisecond // how often programs that are over are looked for
	free := time.Time{}
	for x := s.next(); x != nil; x = s.next() {
		due := x.written.Add(s.every)
		if due.Before(free) {
			due = free
		}
		if wait := time.Until(due); wait > 0 {
			time.Sleep(min(wait, look))
			continue
		}
		begin := processorTime()
		x.write()
		took := processorTime() - begin
		x.logf("snapshot taken in %s", took.Round(time.Microsecond))
		free = time.Now().Add(time.Duration(s.rest) * took)
	}
}

// processorTime returns the processor time of this thread.
func processorTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// write writes one snapshot.
func (x *shot) write() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.written = time.Now()
	res := x.take()
	err := x.out.WriteSnapshots(res)
	if err == nil && x.keep {
		_, err = x.out.KeepSnapshots(res, 0)
	}
	if err != nil && !x.failed {
		x.failed = true
		x.say(fmt.Sprintf("no snapshot of what was measured can be written: %v; the measurement goes on", err))
	}
}
