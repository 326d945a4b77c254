package bpf

import (
	"errors"
	"os"
	"reflect"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

// In every mode of this kernel, each call of a function of the test gives one record, with both
// times and the call site.
func TestMPIModesDeliver(t *testing.T) {
	for mode := Session; mode <= Perf; mode++ {
		for _, arrays := range []bool{false, true} {
			name := mode.String()
			if arrays {
				name += " that sleep"
			}
			t.Run(name, func(t *testing.T) { deliverMPI(t, mode, arrays) })
		}
	}
}

func deliverMPI(t *testing.T, mode Mode, arrays bool) {
	p, err := LoadProbes(mode)
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Mode() != mode {
		t.Skipf("this kernel has no %s", mode)
	}
	m, err := p.LoadMPI()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if arrays && !m.sleeps {
		t.Skip("this kernel has no sleepable uprobes")
	}
	if _, err := m.AddLibrary(&MPILibrary{}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.AddRow(&MPIRow{}); err != nil { // so that ours is not the first
		t.Fatal(err)
	}
	none := uint8(MPINoArg)
	row, err := m.AddRow(&MPIRow{SendCount: none, SendType: none, RecvCount: none, RecvType: none, Peer: none, Peer2: none,
		Tag: none, Comm: none, SendBuf: none, RecvBuf: none, Partitions: none, Request: none, Requests: none, Status: none})
	if err != nil {
		t.Fatal(err)
	}
	off, err := testbin.FileOffset(reflect.ValueOf(probed).Pointer())
	if err != nil {
		t.Fatal(err)
	}
	link, err := m.Attach("/proc/self/exe", os.Getpid(), []MPIPoint{{Point{Offset: off, Row: row, Return: true}, arrays}})
	if err != nil {
		t.Fatal(err)
	}
	const calls = 100
	for range calls {
		probed()
	}
	if err := errors.Join(link.Close(), m.CutOff(os.Getpid())); err != nil {
		t.Fatal(err)
	}
	rings, err := p.Rings()
	if err != nil {
		t.Fatal(err)
	}
	got, last := 0, uint64(0)
	for _, r := range rings {
		_, err := r.Drain(1<<20, &Uses{Record: func(rec *Record, _ []uint64) { t.Errorf("stray record %+v", rec) }, MPI: func(rec *MPIRecord) {
			got++
			// probed returns nothing: its result may look like an error.
			if int(rec.Pid) != os.Getpid() || uint32(rec.Row) != row || rec.Flags&^MPIFailed != 0 || rec.Start >= rec.Time || rec.Stack != nil {
				t.Errorf("record %+v", rec)
			}
			if got > 1 && rec.Site != last {
				t.Errorf("called at %#x and at %#x", last, rec.Site)
			}
			last = rec.Site
		}})
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	if _, err := testbin.FileOffset(uintptr(last)); got != calls || err != nil {
		t.Errorf("%d records of %d calls, the last at %#x: %v", got, calls, last, err)
	}
	dropped, err := m.Dropped()
	if err != nil || len(dropped) > 0 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
}

func TestDecodeMPI(t *testing.T) {
	want := mpiMpiRecord{Time: 1, Pid: 2, Tid: 3, Row: 4, Flags: MPIInter, Lost: 5, Sp: 6, Site: 7, Start: 8, Send: 9, Recv: 10,
		Own: 11, Comm: 12, Np: 13, In: 14, Rank: 15, Peer: -1, Peer2: -2, Tag: 16}
	plain := unsafe.Slice((*byte)(unsafe.Pointer(&want)), unsafe.Sizeof(want))
	var got MPIRecord
	if err := decodeMPI(plain, &got); err != nil || got.mpiMpiRecord != want || got.Stack != nil {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	head := mpiMpiStackRecord{Call: want, Bp: 17}
	long := append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(&head)), unsafe.Sizeof(head))...)
	long = append(long, "stack"...)
	if err := decodeMPI(long, &got); err != nil || got.mpiMpiRecord != want || got.BP != 17 || string(got.Stack) != "stack" {
		t.Errorf("%+v, %v; want %+v and a stack", got, err, want)
	}
	if err := decodeMPI(plain, &got); err != nil || got.Stack != nil || got.BP != 0 {
		t.Errorf("%+v, %v; the stack is an older record's", got, err)
	}
	for _, n := range []int{0, len(plain) - 1, len(plain) + 1} {
		if err := decodeMPI(long[:n], &got); !errors.Is(err, ErrShortRecord) {
			t.Errorf("%d bytes: %v, want ErrShortRecord", n, err)
		}
	}
}
