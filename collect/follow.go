package collect

import (
	"context"
	"time"

	"ompp-attach/collect/target"
)

// reapEvery is how often we look for processes that have ended, if there may be any. Each look
// takes some 50 us of a processor.
const reapEvery = 100 * time.Millisecond

// nextReap returns when to look next for processes that have ended, if no life is reported before.
func (lv *lives) nextReap() time.Time {
	lv.mu.Lock()
	defer lv.mu.Unlock()
	lv.reader.mu.Lock()
	defer lv.reader.mu.Unlock()
	for _, p := range lv.reader.procs {
		if lv.reapable(p) {
			return time.Now().Add(reapEvery)
		}
	}
	return time.Now().Add(lookEvery)
}

// reapable tells whether nobody else waits for the process's end.
func (lv *lives) reapable(p *Process) bool { return !p.first && !p.program.over }

// follow acts on lives as the kernel side reports them, until ctx ends.
func (lv *lives) follow(ctx context.Context) {
	next := lv.nextReap()
	for ctx.Err() == nil {
		l, ok, err := lv.follower.Next(next)
		if err != nil {
			lv.reader.warn("following processes failed: %v; runtimes loaded from now on are not measured", err)
			for ctx.Err() == nil { // the kernel side goes on stopping processes
				lv.follower.StopAll()
				time.Sleep(reapEvery)
			}
			return
		}
		if ok {
			lv.live(l)
			if at := time.Now().Add(reapEvery); at.Before(next) {
				next = at
			}
		}
		if now := time.Now(); !now.Before(next) {
			lv.reap()
			next = lv.nextReap()
		}
	}
}

// reap retires processes that have ended. The end of a program's first process is waited for
// elsewhere.
func (lv *lives) reap() {
	lv.mu.Lock()
	defer lv.mu.Unlock()
	if n := lv.follower.Missed(); n > 0 && !lv.missed {
		lv.missed = true
		lv.reader.warn("At least %d times, a program was not measured, or not from its beginning. Processes started, or loaded libraries, faster than probes could be placed, or more than %d processes ran at a time.", n, lv.follower.MostFollowed())
	}
	lv.adopt()
	lv.checkDebuggers()
	lv.reader.mu.Lock()
	var gone []*Process
	for pid, p := range lv.reader.procs {
		if lv.reapable(p) && target.Ended(int(pid)) {
			gone = append(gone, p)
		}
	}
	lv.reader.mu.Unlock()
	for _, p := range gone {
		p.gone = true
		lv.retire(p, endedSomehow)
		lv.follower.Forget(int(p.pid))
	}
}

// retire ends the measurement of one process: its probes go, and its records are read. A goroutine
// makes its profile, because stopped processes may be waiting for the caller.
func (lv *lives) retire(p *Process, how string) {
	lv.endMeasuring(p)
	lv.reader.drainAll()
	lv.reader.retire(p)
	p.program.making.Go(func() { lv.profiles.finish(p, how) })
}

// endMeasuring ends a process's measured time and takes its probes away.
func (lv *lives) endMeasuring(p *Process) {
	lv.reader.endNow(int(p.pid)) // which also holds folding, until letFold
	lv.reader.mu.Lock()
	p.readCPU()
	lv.reader.mu.Unlock()
	lv.reader.endSampling(p)
	lv.reader.endSched(p)
	lv.placer.removeProbes(p)
	lv.writeFolds(p, false)
	lv.placer.cutOffMPI(p)
	lv.letFold()
}

// keepAlive gives the kernel side signs of life until ctx ends.
func (lv *lives) keepAlive(ctx context.Context) {
	for ctx.Err() == nil {
		lv.follower.Alive()
		select {
		case <-ctx.Done():
		case <-time.After(aliveEvery):
		}
	}
}

// aliveEvery is the time between two signs of life for the kernel side.
const aliveEvery = time.Second
