package bpf

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// drivers are threads of a large machine. Each lives until the test ends.
type drivers struct {
	start []chan series
	done  chan error
	tids  []int
	over  sync.WaitGroup
}

func startDrivers(p *driven, threads int) *drivers {
	d := &drivers{done: make(chan error), start: make([]chan series, threads), tids: make([]int, threads)}
	var ready sync.WaitGroup
	ready.Add(threads)
	for i := range threads {
		d.start[i] = make(chan series)
		d.over.Go(func() {
			runtime.LockOSThread() // for good: the thread ends with it
			d.tids[i] = unix.Gettid()
			ready.Done()
			var stack [64]uint64
			for h := range d.start[i] {
				h.sp, h.slot = uint64(uintptr(unsafe.Pointer(&stack[0]))), uint32(i)
				d.done <- p.drive(&h)
			}
		})
	}
	ready.Wait()
	return d
}

// drive makes the first n threads hit, all at the same time.
func (d *drivers) drive(n int, h series) error {
	for _, c := range d.start[:n] {
		c <- h
	}
	var errs []error
	for range n {
		errs = append(errs, <-d.done)
	}
	return errors.Join(errs...)
}

func (d *drivers) end() {
	for _, c := range d.start {
		close(c)
	}
	d.over.Wait()
}

// seen counts the records and losses of a thread's hits.
type seen struct {
	entries, returns int
	lost             uint64
	last             uint64
	disordered       bool
}

func readAll(t testing.TB, rings []*Ring, of map[uint32]*seen) (total int) {
	t.Helper()
	for _, r := range rings {
		total += drain(t, r, 1<<30, of)
	}
	return total
}

// drain counts at most limit records of a ring.
func drain(t testing.TB, r *Ring, limit int, of map[uint32]*seen) int {
	t.Helper()
	n, err := r.Drain(limit, &Uses{Record: func(rec *Record, _ []uint64) {
		s := of[rec.Tid]
		if s == nil {
			s = &seen{}
			of[rec.Tid] = s
		}
		if rec.Flags&RecReturn != 0 {
			s.returns++
		} else {
			s.entries++
		}
		s.lost += uint64(rec.Lost)
		s.disordered = s.disordered || rec.Time < s.last
		s.last = rec.Time
	}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// As many threads as a large machine has run the programs of probes. Every record arrives, in its
// thread's order. If the reader sleeps until the rings are full, each lost record is counted, by
// thread and by row.
func TestManyThreadsAreCountedExactly(t *testing.T) {
	const threads, chunk = 256, 512
	p, rings, row := drivenProbes(t)
	d := startDrivers(p, threads)
	defer d.end()
	hits := series{steps: []step{{row: row}, {row: row, ret: true}}, count: chunk, arg: 7}
	of := map[uint32]*seen{}
	made := 0
	drive := func() {
		t.Helper()
		if err := d.drive(threads, hits); err != nil {
			t.Fatal(err)
		}
		made += chunk
	}
	for range 4 {
		drive()
		readAll(t, rings, of)
	}
	check := func(lossy bool) {
		t.Helper()
		lost := uint64(0)
		for _, tid := range d.tids {
			s := of[uint32(tid)]
			if s == nil {
				t.Fatalf("nothing came of thread %d", tid)
			}
			if uint64(s.entries+s.returns)+s.lost != uint64(made) || s.disordered {
				t.Errorf("thread %d: %d entries, %d returns, %d lost, disordered %v, of %d hits", tid, s.entries, s.returns, s.lost, s.disordered, made)
			}
			if !lossy && (s.entries != made/2 || s.returns != made/2) {
				t.Errorf("thread %d: %d entries, %d returns of %d hits", tid, s.entries, s.returns, made)
			}
			lost += s.lost
		}
		dropped, err := p.Dropped()
		if err != nil {
			t.Fatal(err)
		}
		if dropped[row] != lost || (lost > 0) != lossy {
			t.Errorf("%d records dropped by row, %d by thread, losses expected: %v", dropped[row], lost, lossy)
		}
	}
	check(false)
	// The reader sleeps until there were more hits than the rings have room for.
	for capacity := len(rings) * int(pieceBytes+ringBytes(len(rings))) / recordBytes; capacity > -threads*chunk; capacity -= threads * chunk {
		drive()
	}
	readAll(t, rings, of)
	drive() // a thread's next record tells how many were lost
	readAll(t, rings, of)
	check(true)
}

// recordBytes is the size of a record in its ring.
const recordBytes = int(unsafe.Sizeof(Record{})) + 8

// BenchmarkDrive measures what a hit costs on a number of processors at once, without the probe
// itself.
func BenchmarkDrive(b *testing.B) {
	for threads := 1; threads <= runtime.NumCPU(); threads *= 2 {
		b.Run(fmt.Sprintf("%d threads", threads), func(b *testing.B) {
			driving, _, made := driveAndDrain(b, threads)
			b.ReportMetric(float64(driving.Nanoseconds())/float64(made/threads), "ns/hit")
		})
	}
}

// BenchmarkDrain measures what reading a record costs.
func BenchmarkDrain(b *testing.B) {
	_, draining, made := driveAndDrain(b, 1)
	b.ReportMetric(float64(made)/draining.Seconds()/1e6, "Mevents/s")
}

// driveAndDrain lets threads make hits, and reads their records, in turns.
func driveAndDrain(b *testing.B, threads int) (driving, draining time.Duration, made int) {
	const chunk = 1 << 14
	p, rings, row := drivenProbes(b)
	d := startDrivers(p, threads)
	defer d.end()
	hits := series{steps: []step{{row: row}, {row: row, ret: true}}, count: chunk}
	read, sum := 0, uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		if err := d.drive(threads, hits); err != nil {
			b.Fatal(err)
		}
		driven := time.Now()
		for _, r := range rings {
			n, err := r.Drain(threads*chunk, &Uses{Record: func(rec *Record, _ []uint64) { sum += rec.Time + rec.Site }})
			if err != nil {
				b.Fatal(err)
			}
			read += n
		}
		driving, draining, made = driving+driven.Sub(begin), draining+time.Since(driven), made+threads*chunk
	}
	if read != made || sum == 0 {
		b.Errorf("%d of %d records came", read, made)
	}
	return driving, draining, made
}
