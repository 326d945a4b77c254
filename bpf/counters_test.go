package bpf

import (
	"encoding/binary"
	"errors"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

// The counters in a thread's records are the thread's own: they count between two hits, and do not
// count while the thread sleeps.
func TestCountersOfThread(t *testing.T) {
	var sources = []CounterSource{CountTaskClock, CountPageFaults, CountContextSwitches, CountCPUMigrations, CountEvent}
	for _, turns := range []bool{false, true} {
		for mode := Session; mode <= Perf; mode++ {
			t.Run(mode.String()+" "+strconv.FormatBool(turns), func(t *testing.T) { testCounters(t, mode, Counters{sources, turns}) })
		}
	}
}

func testCounters(t *testing.T, mode Mode, c Counters) {
	p, err := LoadCountingProbes(mode, c)
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Fatalf("%+v", err)
	}
	defer p.Close()
	if p.Mode() != mode {
		t.Skipf("this kernel has no %s", mode)
	}
	// A counter that counts for any thread that runs on the CPU.
	for cpu := range runtime.NumCPU() {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK,
			Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING}
		attr.Size = uint32(unsafe.Sizeof(attr))
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := p.SetEvent(4, cpu, fd); err != nil {
			t.Fatal(err)
		}
	}
	l, err := p.StartCounting()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	row, err := p.AddRow(Row{Flags: RowEntry})
	if err != nil {
		t.Fatal(err)
	}
	off, err := testbin.FileOffset(reflect.ValueOf(probed).Pointer())
	if err != nil {
		t.Fatal(err)
	}
	probe, err := p.Attach("/proc/self/exe", os.Getpid(), []Point{{Offset: off, Row: row}})
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const pages, naps = 300, 20
	probed()
	touch(t, pages)
	probed()
	for range naps {
		time.Sleep(time.Millisecond)
		unix.Nanosleep(&unix.Timespec{Nsec: 5e6}, nil) // time.Sleep need not make this thread wait
	}
	probed()
	began, begin := time.Now(), cpuTime()
	for cpuTime() < begin+50e6 {
	}
	probed()
	// The thread's own clock stands still while a virtual machine does not have its processor
	// (paravirtual steal time). The counters' clocks go on.
	// Of each switch, the counters' clocks miss some microseconds that the thread's own clock has.
	least, most := uint64(45e6), uint64(time.Since(began))+2e6
	probe.Close()

	var at [][]uint64
	rings, err := p.Rings()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rings {
		if _, err := r.Drain(1<<20, &Uses{Record: func(_ *Record, c []uint64) { at = append(at, slices.Clone(c)) }}); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	words := c.words()
	if slices.ContainsFunc(at, func(c []uint64) bool { return c == nil }) {
		t.Skip("the kernel did not tell of a switch; the records say that their counters are not known")
	}
	if len(at) != 4 || len(at[0]) != words {
		t.Fatalf("got %d records, %v; want 4 of %d words", len(at), at, words)
	}
	d := func(i, k int) uint64 { return at[i+1][k] - at[i][k] }
	if n := d(0, 1); n < pages || n > pages+100 {
		t.Errorf("%d page faults, want %d", n, pages)
	}
	if n := d(1, 2); n < naps {
		t.Errorf("%d context switches, want at least %d", n, naps)
	}
	for _, k := range []int{0, 4} {
		if n := d(1, k); n > naps*2e6 {
			t.Errorf("counter %d: %d ns on the CPU while asleep for %d", k, n, naps*5000000)
		}
		if n := d(2, k); n < least || n > most {
			t.Errorf("counter %d: %d ns on the CPU, want %d to %d", k, n, least, most)
		}
	}
	if c.TakeTurns {
		for i := range 3 {
			if time := d(i, words-1); time != d(i, len(c.Sources)) || time != d(i, 0) {
				t.Errorf("interval %d: a counter that always counts did for %d of %d", i, d(i, len(c.Sources)), time)
			}
			if ran, time := d(i, len(c.Sources)+4), d(i, words-1); ran > time+2e6 || ran+2e6 < time {
				t.Errorf("interval %d: the event counted for %d of %d", i, ran, time)
			}
		}
	}
}

// touch writes to a number of new pages.
func touch(t *testing.T, pages int) {
	b, err := unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE)
	for i := range pages {
		b[i*os.Getpagesize()] = 1
	}
	_ = unix.Munmap(b)
}

func cpuTime() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano()
}

func TestDecodeCounted(t *testing.T) {
	want := Record{Time: 1, Tid: 3, Flags: recCounters, A: 8}
	raw := append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&want)), unsafe.Sizeof(want))...)
	raw = binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(raw, 11), 12)
	var got Record
	c, err := decodeCounted(raw, &got, nil)
	if !hasCounters(raw) || err != nil || got != want || !reflect.DeepEqual(c, []uint64{11, 12}) {
		t.Errorf("%+v %v, %v; want %+v", got, c, err, want)
	}
	if _, err := decodeCounted(raw[:len(raw)-1], &got, nil); !errors.Is(err, ErrShortRecord) {
		t.Errorf("a byte too few: %v", err)
	}
	want.Flags |= recUncounted
	copy(raw, unsafe.Slice((*byte)(unsafe.Pointer(&want)), unsafe.Sizeof(want)))
	if c, err := decodeCounted(raw, &got, nil); c != nil || err != nil {
		t.Errorf("counters that are not known: %v, %v", c, err)
	}
	if hasCounters([]byte(strings.Repeat("\xff", 3))) {
		t.Error("three bytes are no record")
	}
}
