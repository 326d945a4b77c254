package collect

import (
	"math"
	"os"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/calibration"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// probed has no stack check at its start, which would run it again after the stack has grown.
//
//go:noinline
//go:nosplit
func probed() {}

// Engines get no events until it is known what hits cost. Then they get the costs first, and all of
// the events.
func TestPendingCosts(t *testing.T) {
	k := kernelSide(t)
	row, err := k.AddRow(bpf.Row{Flags: bpf.RowEntry | bpf.RowNoSite})
	if err != nil {
		t.Fatal(err)
	}
	m := assemble(&common{kernel: k, logf: t.Logf})
	if m.reader.rings, err = k.Rings(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, r := range m.reader.rings {
			r.Close()
		}
	}()
	m.reader.readTo = make([]uint64, len(m.reader.rings))
	off, err := testbin.FileOffset(reflect.ValueOf(probed).Pointer())
	if err != nil {
		t.Fatal(err)
	}
	link, err := k.Attach("/proc/self/exe", unix.Getpid(), []bpf.Point{{Offset: off, Row: row}})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	hit := func(n int) {
		for range n {
			probed()
		}
	}
	m.reader.costing.pending = true
	hit(1000)
	m.reader.catchUp()
	hit(500)
	m.reader.catchUp()
	if m.reader.strays != 0 {
		t.Errorf("%d records were used", m.reader.strays)
	}
	p := m.lives.newProcess(unix.Getpid(), m.newProgram(unix.Getpid(), false))
	if p.rates != nil {
		t.Error("a process was told costs that nobody knows")
	}
	c := &calibration.Costs{Emulated: calibration.Split{Before: 400, After: 300}}
	m.reader.costsFound(c, nil)
	if p.rates == nil || p.rates.Costs.Kinds[event.ProbeEmulated] != (event.HitCost{Before: 400, After: 300}) {
		t.Error("a process was not told the costs")
	}
	hit(200)
	m.reader.catchUp()
	if m.reader.strays != 1700 { // of a row that no plan has
		t.Errorf("%d records of 1700 came", m.reader.strays)
	}
}

// What hits can have taken is told by CPU times that were read after the last of them.
func TestMostInHits(t *testing.T) {
	const sec = 1e9
	p := &Process{pid: uint32(os.Getpid())}
	p.cpu0 = target.CPUTimes{User: 1 * sec, System: 2 * sec}
	p.cpu = target.CPUTimes{User: 5 * sec, System: 12 * sec}
	p.cpuAt = 100
	if got, want := p.mostInHits(100), profile.MostInHits(14*sec); got != want {
		t.Errorf("%d, want %d", got, want)
	}
	if got := p.mostInHits(101); got != math.MaxInt64 {
		t.Errorf("%d ns, by times that are too old", got)
	}
	before := ktime()
	if p.readCPU(); p.cpuAt < before || p.cpuAt > ktime() {
		t.Errorf("read at %d, not after %d", p.cpuAt, before)
	}
	p.pid, p.cpuAt = 1<<31-1, 7 // there is no such process
	if p.readCPU(); p.cpuAt != 7 {
		t.Error("the times of no process count as read")
	}
}
