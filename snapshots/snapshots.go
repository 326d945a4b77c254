// Package snapshots writes what was measured so far, while the measurement goes on. A tool that is
// killed loses what it has not written. So one snapshot of each program is written at intervals, in
// place of the one before. It has the name that the program's profile will have at the end. Other
// snapshots are kept, each in a file of its own: they show how a run went on (ompP's incremental
// profiles).
package snapshots

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/collect/target"
	"ompp-attach/results"
)

// Pace says when snapshots are written. Intervals of 0 stand for never.
type Pace struct {
	Replaced time.Duration // between snapshots that take each other's place: as much may be lost
	Kept     time.Duration // between snapshots that are kept
	// Rest bounds the cost of snapshots. After a snapshot, so many times the processor time that it
	// took passes before the next one.
	Rest int
}

// Program is a program whose snapshots are written, or several programs at a time.
type Program struct {
	To       *results.Directory
	Take     func() *collect.Result
	Whole    func() *collect.Result // the same with timelines, for requests; nil: Take
	Measures func(pid int) bool     // tells whether a process is one of the program's
	Say      func(sentence string)
	Logf     func(format string, args ...any)

	begun   time.Time  // of the last snapshot; before it, when the program was added
	writing sync.Mutex // held while a snapshot is written, and while over is changed
	over    bool       // no further snapshot is written; guarded by writing
	// The user has been told that a snapshot could not be written; guarded by writing.
	failed bool
}

// Writer writes the snapshots of the programs of a measurement, one after the other.
type Writer struct {
	pace    Pace
	stopped chan struct{} // a program was stopped: what is due first may have changed

	mu      sync.Mutex // never held while a snapshot is written
	all     []*Program
	running bool      // run runs
	next    time.Time // when snapshots are kept again
	number  int       // of the last snapshot that was kept
}

// New returns a writer without programs.
func New(pace Pace) *Writer { return &Writer{pace: pace, stopped: make(chan struct{}, 1)} }

// Add adds a program, until stop is called. After stop no snapshot of the program is being written.
func (w *Writer) Add(x *Program) (stop func()) {
	x.begun = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, x)
	if !w.running && (w.pace.Replaced > 0 || w.pace.Kept > 0) {
		w.running, w.next = true, x.begun.Add(w.pace.Kept)
		go w.run()
	}
	return func() {
		w.mu.Lock()
		w.all = slices.DeleteFunc(w.all, func(o *Program) bool { return o == x })
		w.mu.Unlock()
		select {
		case w.stopped <- struct{}{}:
		default: // run knows
		}
		x.writing.Lock()
		defer x.writing.Unlock()
		x.over = true
	}
}

// due is a time at which something is to be written: all programs' snapshots are kept, or that of
// one program is replaced.
type due struct {
	at   time.Time
	keep bool
	of   []*Program
}

// first returns what is to be written first. ok is false if all programs are over.
func (w *Writer) first() (d due, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running = len(w.all) > 0; !w.running {
		return d, false
	}
	if w.pace.Kept > 0 {
		d = due{at: w.next, keep: true, of: slices.Clone(w.all)}
	}
	if w.pace.Replaced > 0 {
		oldest := slices.MinFunc(w.all, func(a, b *Program) int { return a.begun.Compare(b.begun) })
		if at := oldest.begun.Add(w.pace.Replaced); d.of == nil || at.Before(d.at) {
			d = due{at: at, of: []*Program{oldest}}
		}
	}
	return d, true
}

// run writes the snapshots. Its thread has a low priority, so that the programs get the processors
// first.
func (w *Writer) run() {
	const polite = 10
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), polite)
	free := time.Time{}
	for d, ok := w.first(); ok; d, ok = w.first() {
		if d.at.Before(free) {
			d.at = free
		}
		if wait := time.Until(d.at); wait > 0 {
			select {
			case <-time.After(wait):
			case <-w.stopped:
			}
			continue
		}
		begin := target.ProcessorTime()
		w.write(&d)
		took := target.ProcessorTime() - begin
		d.of[0].Logf("snapshot taken in %s", took.Round(time.Microsecond))
		free = time.Now().Add(time.Duration(w.pace.Rest) * took)
	}
}

// write writes what is due. The snapshots that are kept at one time have one number, so that those
// of a job's ranks belong together.
func (w *Writer) write(d *due) {
	hold(d.of)
	number := 0
	w.mu.Lock()
	if d.keep {
		for now := time.Now(); !w.next.After(now); {
			w.next = w.next.Add(w.pace.Kept)
		}
		w.number++
		number = w.number
	}
	for _, x := range d.of {
		x.begun = time.Now()
	}
	w.mu.Unlock()
	kept := 0
	for _, x := range d.of {
		kept += x.write(w.pace.Replaced > 0, number)
	}
	if d.keep && kept == 0 {
		w.giveBack(number)
	}
}

// hold locks programs for writing, before their snapshots get a number. So a snapshot with a higher
// number is younger. All callers have the programs in the order in which they began.
// Each program is free again once its snapshot is written.
func hold(of []*Program) {
	for _, x := range of {
		x.writing.Lock()
	}
}

// giveBack frees a number under which nothing was kept, unless a later one was given meanwhile.
func (w *Writer) giveBack(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.number == number {
		w.number--
	}
}

// write writes a snapshot of a program that is held, and lets go of it. Unless number is 0, the
// snapshot is kept under that number; kept is how many files that took.
func (x *Program) write(replaced bool, number int) (kept int) {
	defer x.writing.Unlock()
	if x.over {
		return 0
	}
	res := x.Take()
	var err error
	if replaced {
		err = x.To.WriteSnapshots(res)
	}
	if err == nil && number > 0 {
		var names []string
		names, err = x.To.KeepSnapshots(res, 0, number)
		kept = len(names)
	}
	if err != nil && !x.failed {
		x.failed = true
		x.Say(fmt.Sprintf("no snapshot of what was measured can be written: %v; the measurement goes on", err))
	}
	return kept
}

// Keep keeps a snapshot of a process at once, and returns the file's absolute name. pid is 0 for
// all processes: then the name is that of the first file.
func (w *Writer) Keep(pid int) (string, error) {
	w.mu.Lock()
	of := slices.Clone(w.all)
	w.mu.Unlock()
	of = slices.DeleteFunc(of, func(x *Program) bool { return pid != 0 && !x.Measures(pid) })
	hold(of)
	w.mu.Lock()
	w.number++
	number := w.number
	w.mu.Unlock()
	first := ""
	var failed error
	for _, x := range of {
		name, err := x.keep(pid, number)
		failed = cmp.Or(failed, err)
		first = cmp.Or(first, name)
	}
	if failed != nil {
		return "", failed
	}
	if first != "" {
		return filepath.Abs(first)
	}
	w.giveBack(number)
	if pid == 0 {
		return "", errors.New("nothing was measured yet, or the program has ended")
	}
	return "", fmt.Errorf("nothing was measured of process %d yet", pid)
}

// keep keeps a snapshot of a program that is held, and lets go of it.
func (x *Program) keep(pid, number int) (name string, err error) {
	defer x.writing.Unlock()
	if x.over {
		return "", nil
	}
	take := x.Take
	if x.Whole != nil {
		take = x.Whole
	}
	names, err := x.To.KeepSnapshots(take(), pid, number)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return names[0], nil
}
