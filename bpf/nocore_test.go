package bpf

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// waitedForCore returns how long a thread of ours has waited for a core so far, by the scheduler's
// account (ns).
func waitedForCore(t *testing.T, tid int) uint64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", tid))
	var on, waited uint64
	if err == nil {
		_, err = fmt.Sscan(string(b), &on, &waited)
	}
	if err != nil {
		t.Skipf("the kernel keeps no waits for a core: %v", err)
	}
	return waited
}

// tellers are threads that hit, and what they told of their times without a core.
type tellers struct {
	*drivers
	told  map[uint32]uint64 // ns
	first map[uint32]int    // records that said to be the first
}

// hit makes the first n threads hit, and reads the records.
func (w *tellers) hit(t *testing.T, rings []*Ring, n int, h series) {
	t.Helper()
	if err := w.drive(n, h); err != nil {
		t.Fatal(err)
	}
	for _, r := range rings {
		if _, err := r.Drain(1<<30, &Uses{Record: func(*Record, []uint64) {}, NoCore: func(c NoCore) {
			w.told[c.TID] += c.More
			if c.First {
				w.first[c.TID]++
			}
		}}); err != nil {
			t.Fatal(err)
		}
	}
}

// waitMore makes the first n threads hit until each has waited for a core for more ns longer.
func (w *tellers) waitMore(t *testing.T, rings []*Ring, n int, more uint64, h series) {
	t.Helper()
	least := func() uint64 {
		least := waitedForCore(t, w.tids[0])
		for _, tid := range w.tids[1:n] {
			least = min(least, waitedForCore(t, tid))
		}
		return least
	}
	for begin, enough := time.Now(), least()+more; least() < enough; {
		if time.Since(begin) > time.Minute {
			t.Skipf("%d threads hardly wait for %d processors", n, runtime.NumCPU())
		}
		w.hit(t, rings, n, h)
	}
}

// check compares what the first n threads have told with what the scheduler knows.
func (w *tellers) check(t *testing.T, rings []*Ring, n int, h series) {
	t.Helper()
	const step = 100_000 // CORE_WAIT_STEP of core_wait.h, ns
	before := make([]uint64, n)
	for i := range before {
		before[i] = waitedForCore(t, w.tids[i])
	}
	h.count = 2
	w.hit(t, rings, n, h)
	for i, tid := range w.tids[:n] {
		if told, after := w.told[uint32(tid)], waitedForCore(t, tid); told+step < before[i] || told > after {
			t.Errorf("thread %d told of %d ns without a core, of %d to %d", tid, told, before[i], after)
		}
		if w.first[uint32(tid)] != 1 {
			t.Errorf("thread %d told %d times that it tells for the first time", tid, w.first[uint32(tid)])
		}
	}
}

// Threads that take the processors from each other tell how long they waited for a processor. So
// does a thread that is the only one to hit. The times are compared with the scheduler's own sums:
// only a rest shorter than a step is missing.
func TestWaitsForCoresAreTold(t *testing.T) {
	const enough = 2_000_000 // ns
	p, rings, row := drivenProbes(t)
	if err := p.TellNoCore(); err != nil {
		t.Fatal(err)
	}
	w := tellers{startDrivers(p, 3*runtime.NumCPU()), map[uint32]uint64{}, map[uint32]int{}}
	defer w.end()
	hits := series{steps: []step{{row: row}, {row: row, ret: true}}, count: 1 << 13}
	w.waitMore(t, rings, len(w.tids), enough, hits)
	w.check(t, rings, len(w.tids), hits)
	var over atomic.Bool
	var others sync.WaitGroup
	for range runtime.NumCPU() {
		others.Go(func() {
			for !over.Load() {
			}
		})
	}
	w.waitMore(t, rings, 1, enough, hits)
	over.Store(true)
	others.Wait()
	w.check(t, rings, 1, hits)
}
