package collect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ompp-attach/bpf"
	"ompp-attach/clock"
	"ompp-attach/collect/sampling"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// reader reads the rings and feeds the engines of the processes. It is the first part of a
// measurement, and uses no other.
type reader struct {
	*common
	rings  []*bpf.Ring
	waiter *bpf.Waiter // wakes read

	costing  costing
	sampling sampling.Sampler
	sched    *bpf.Sched // nil: without --sched

	mu         sync.Mutex // guards the fields below, and what is read of each process (reading)
	readTo     []uint64   // by ring: CLOCK_MONOTONIC, ns, up to which it was read
	decoder    probes.Decoder
	mpiReading mpiReading
	procs      map[uint32]*Process // the processes that are measured
	strays     uint64              // records of processes that are not in procs
}

// ktime reads the clock of the records: the kernel's CLOCK_MONOTONIC, in ns.
func ktime() uint64 { return clock.Now() }

// The reader is not woken for each record: that would cost the target 1 us. Each look at the rings
// costs some 50 us of a processor that the program may need. If a thread loses its core to the
// reader, the threads that wait for that thread wait longer, too. So the reader looks when a ring
// fills, or after a long pause (lookEvery). There are three exceptions. A budget has to know
// earlier what hits have cost (soon). Records behind one that is still being written wake nobody
// (soon). The CPU times of a process whose end the tool does not wait for are known only up to the
// last look (childEvery).
const (
	lookEvery  = 250 * time.Millisecond
	childEvery = 50 * time.Millisecond
	soon       = 5 * time.Millisecond
	// How many records of each ring are read before the engines go on (Engine.Advance). Only then
	// do engines use the memory of ended teams again. With 4096 records an engine held a thousand
	// small teams, and took a quarter longer. With 128 or 512 it took no less than with 256.
	batch = 1 << 8
)

// read drains the rings into the engines until ctx ends, then once more. It also reads the
// processes' CPU times.
func (rd *reader) read(ctx context.Context) error {
	defer context.AfterFunc(ctx, rd.waiter.Wake)()
	for looked := time.Now(); ; {
		last := ctx.Err() != nil
		d, err := rd.drain()
		if err != nil || last {
			return err
		}
		pause := lookEvery
		if d.children {
			pause = childEvery
		}
		if time.Since(looked) > pause/2 {
			looked = time.Now()
			rd.readCPU()
		}
		if d.fullest > batch/2 {
			continue
		}
		if rd.budget != nil || d.left == blocked {
			pause = soon
		}
		if _, err := rd.waiter.Wait(time.Now().Add(pause)); err != nil {
			return err
		}
	}
}

// readCPU reads the CPU times of all processes anew.
func (rd *reader) readCPU() {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	for _, p := range rd.procs {
		p.readCPU()
	}
}

// drainAll is catchUp after calibration.
func (rd *reader) drainAll() {
	_, _ = rd.costing.wait()
	rd.catchUp()
}

// catchUp reads all records that were written before the call; none during calibration. Other
// processes may write records for ever. So catchUp ends when each ring was read to its end. At the
// latest it ends after as many records as a ring can hold, plus those that may have been set aside.
// That is 17 MiB and more, with at least 64 bytes a record.
func (rd *reader) catchUp() {
	const patience = 100 // ms, for records that are being written
	for turn, waited := 0, 0; turn < (asideBytes+17<<20)/64/batch+1 && waited < patience; {
		d, err := rd.drain()
		switch {
		case err != nil || d.left == noRest:
			return
		case d.left == blocked:
			waited++
			time.Sleep(time.Millisecond)
		default:
			turn++
		}
	}
}

// rest tells what a drain has left in the rings.
type rest int

const (
	noRest  rest = iota
	blocked      // records behind one that is still being written
	more         // records beyond one batch
)

// drained is the outcome of a drain.
type drained struct {
	fullest  int  // records read from the ring that had most
	left     rest // the greatest of all rings
	children bool // some process is not the first of its program: nobody waits for its end
}

// drain reads at most a batch of records from each ring, and feeds them to the engines.
func (rd *reader) drain() (d drained, err error) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	now := ktime() // if a ring is read to its end, all records before now have been read
	if rd.costing.pending {
		return d, rd.setAside()
	}
	read, f := now, feeding{reader: rd}
	uses := f.uses()
	for i, r := range rd.rings {
		f.latest = rd.readTo[i]
		n, err := r.Drain(batch, uses)
		if err != nil {
			return d, err
		}
		d.fullest = max(d.fullest, n)
		switch {
		case n >= batch: // the ring may hold more records
			d.left = more
		case r.Blocked():
			d.left = max(d.left, blocked)
		default:
			f.latest = now
		}
		rd.readTo[i] = f.latest
		read = min(read, f.latest)
	}
	d.children = rd.advance(read)
	rd.sampling.CountThrottled()
	return d, nil
}

// feeding feeds records to the engines of their processes.
// Its fields are used again for each record.
type feeding struct {
	*reader
	latest uint64   // time of the latest record: CLOCK_MONOTONIC, ns
	last   *Process // of the latest hit
	ev     event.Event
	fold   event.Fold
	away   event.OffCoreTime
}

// uses returns the functions that take the records of a ring.
func (f *feeding) uses() *bpf.Uses {
	return &bpf.Uses{
		Record: f.hit,
		Fold:   f.folded,
		MPI: func(rec *bpf.MPIRecord) {
			f.latest = rec.Time
			f.feedMPI(rec)
		},
		NoCore: func(w bpf.NoCore) {
			f.latest = w.Time
			if p := f.procs[w.PID]; p != nil {
				p.feedNoCore(w)
			}
		},
		OffCore: func(rec *bpf.OffCoreRecord) {
			f.latest = rec.Time
			if p := f.procs[rec.Pid]; p != nil {
				p.feedOffCore(rec, &f.away)
			}
		},
		Sample: func(rec *bpf.SampleRecord) {
			f.latest = rec.Time
			f.feedSample(rec)
		},
	}
}

// hit feeds a hit.
func (f *feeding) hit(rec *bpf.Record, counters []uint64) {
	f.latest = rec.Time
	if f.last == nil || f.last.pid != rec.Pid {
		f.last = f.procs[rec.Pid]
	}
	if f.last == nil || !f.decoder.Event(rec, &f.ev) {
		f.strays++
		return
	}
	f.ev.Counters = counters
	if f.budget != nil {
		f.budget.ledger.Pay(&f.ev)
	}
	f.last.feed(&f.ev)
}

// folded feeds the sum of a construct's executions.
func (f *feeding) folded(rec *bpf.FoldRecord, counters *bpf.FoldCounters) {
	f.latest = rec.Last
	p := f.procs[rec.Pid]
	if p == nil || !f.decoder.Fold(rec, &f.ev, &f.fold) {
		f.strays++
		return
	}
	if rec.N > 0 {
		f.ev.Counters, f.fold.Counters = counters.First, counters.Sum
	}
	p.feed(&f.ev)
}

// advance tells the engines up to when all records have been read (ns), and whether some process is
// not the first of its program.
func (rd *reader) advance(read uint64) (children bool) {
	for _, p := range rd.procs {
		children = children || !p.first
		to := read
		if p.stopped != 0 { // its threads cannot be late while they are stopped
			to = min(read, p.stopped)
		}
		p.engine.Advance(to)
	}
	return children
}

// endNow sets the end of a process's measured time to now, because removing its probes takes some
// time. Folding is held until letFold.
func (rd *reader) endNow(pid int) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if p := rd.procs[uint32(pid)]; p != nil && p.ended == 0 {
		rd.hold()
		p.ended = ktime()
	}
}

// retire takes a process out of procs. The caller then makes its profile.
func (rd *reader) retire(p *Process) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	delete(rd.procs, p.pid)
	p.program.done = append(p.program.done, p)
}

func (rd *reader) warn(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	rd.logf("%s", s)
	rd.mu.Lock()
	defer rd.mu.Unlock()
	for _, p := range rd.procs {
		p.warnings = append(p.warnings, s)
	}
}

// stoppedFor returns the measured process of a life, or nil. If the process was stopped for the
// life, stoppedFor notes the time.
func (rd *reader) stoppedFor(l *bpf.Life) *Process {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	p := rd.procs[l.Pid]
	if p != nil && l.Stopped != 0 {
		p.stopped, p.toolAtStop = l.Time, target.ReadOwnCPU()
	}
	return p
}
