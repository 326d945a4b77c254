package bpf

import (
	"encoding/binary"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// counted returns uses that count the records handed over, and keep the last one of a time off a
// core.
func counted(n *int, away *OffCoreRecord) *Uses {
	return &Uses{Record: func(*Record, []uint64) { *n++ }, Fold: func(*FoldRecord, *FoldCounters) { *n++ },
		MPI: func(*MPIRecord) { *n++ }, Sample: func(*SampleRecord) { *n++ }, NoCore: func(NoCore) { *n++ },
		OffCore: func(r *OffCoreRecord) { *n++; *away = *r }}
}

// A record of a time off a core has the same flag as the record of a time without a core. Their
// sizes tell them apart.
func TestDecodeAway(t *testing.T) {
	want := OffCoreRecord{Time: 9, Pid: 2, Tid: 3, Flags: recOffCore, Lost: 4, Off: 5, Woken: 6, Own: 7, Foreign: 8, ByTime: 1, By: 12, Moves: 13, ByName: [16]uint8{'x'}}
	b := make([]byte, unsafe.Sizeof(want))
	copy(b, unsafe.Slice((*byte)(unsafe.Pointer(&want)), len(b)))
	var got OffCoreRecord
	n := 0
	if err := new(Ring).one(b, counted(&n, &got)); err != nil || n != 1 || got != want {
		t.Errorf("%d records, %+v (%v), want %+v", n, got, err, want)
	}
	if isOffCore(b[:unsafe.Sizeof(Record{})]) {
		t.Error("a record of a time without a core is taken for one of a time off a core")
	}
	if err := new(Ring).one(b, &Uses{}); err != nil {
		t.Errorf("nobody wants it: %v", err)
	}
}

// Any entry of a ring gives one record or an error.
func FuzzEntry(f *testing.F) {
	f.Add(make([]byte, unsafe.Sizeof(OffCoreRecord{})))
	for _, size := range []uintptr{unsafe.Sizeof(OffCoreRecord{}), unsafe.Sizeof(Record{}), unsafe.Sizeof(FoldRecord{}), unsafe.Sizeof(sampleSampleRecord{}) + 8} {
		for _, flag := range []uint16{recOffCore, recFolded, recSample, recCounters} {
			b := make([]byte, size)
			binary.NativeEndian.PutUint16(b[flagsAt:], flag)
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		aligned := make([]uint64, len(b)/8+1) // as the kernel aligns entries
		own := unsafe.Slice((*byte)(unsafe.Pointer(&aligned[0])), len(b))
		copy(own, b)
		n := 0
		if len(b) <= int(flagsAt)+1 {
			return // shorter than the head of any record
		}
		if err := new(Ring).one(own, counted(&n, new(OffCoreRecord))); (err == nil) != (n == 1) {
			t.Errorf("%d records, %v", n, err)
		}
	})
}

// watchedSched loads the programs that watch the scheduler, and opens the rings that they write to.
func watchedSched(t *testing.T) (*Probes, *Sched, []*Ring) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("watching the scheduler needs root")
	}
	p, err := LoadProbes(Session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	s, err := p.LoadSched()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	rings, err := p.Rings()
	if err != nil {
		t.Fatal(err)
	}
	return p, s, rings
}

// A thread that sleeps is off its core for as long as it slept, and is woken at the end of that
// time. The kernel counts as many such switches.
func TestSchedTellsOfSleep(t *testing.T) {
	_, s, rings := watchedSched(t)
	const naps, nap = 20, 2 * time.Millisecond
	type result struct {
		tid     int
		sleeps  int64
		earlier int64
	}
	done := make(chan result)
	if err := s.Begin(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	go func() {
		// Locked for good: the thread ends with the goroutine.
		runtime.LockOSThread()
		var before, after unix.Rusage
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &before)
		for range naps {
			d := unix.NsecToTimespec(int64(nap))
			_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &d, nil)
		}
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &after)
		done <- result{unix.Gettid(), after.Nvcsw - before.Nvcsw, before.Nvcsw}
	}()
	r := <-done
	w := s.End(os.Getpid())
	var slept, long int
	uses := counted(new(int), new(OffCoreRecord))
	uses.OffCore = func(a *OffCoreRecord) {
		if int(a.Tid) != r.tid || a.Woken == 0 {
			return
		}
		slept++
		if a.Woken-a.Off >= uint64(nap)*9/10 && a.Woken <= a.Time {
			long++
		}
	}
	for _, ring := range rings {
		if _, err := ring.Drain(1<<20, uses); err != nil {
			t.Fatal(err)
		}
	}
	if w.Lost > 0 || w.Records == 0 {
		t.Fatalf("%+v", w)
	}
	if long < naps/2 { // a signal of the Go runtime may end one early
		t.Errorf("%d of %d naps were told in full", long, naps)
	}
	if most := int(r.sleeps+r.earlier) + 2; slept < int(r.sleeps) || slept > most {
		t.Errorf("the thread slept %d times, the kernel counts %d to %d", slept, r.sleeps, most)
	}
}

// Records of the scheduler may fill half of a ring's large part: the rest is for hits.
func TestSchedLeavesRoomForHits(t *testing.T) {
	p, s, rings := watchedSched(t)
	half := uint64(ringBytes(p.numRings)) / 2
	for _, tc := range []struct {
		unread uint64 // bytes in each ring
		writes bool
	}{{half - 1<<20, true}, {half + 8, false}} {
		for _, r := range rings {
			atomic.StoreUint64(r.memory.large.written, tc.unread) // as if there were entries
		}
		if err := s.Begin(os.Getpid()); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			time.Sleep(time.Millisecond)
		}
		w := s.End(os.Getpid())
		if (w.Records > 0) != tc.writes || (w.Lost > 0) == tc.writes {
			t.Errorf("with %d unread bytes: %+v", tc.unread, w)
		}
	}
}
