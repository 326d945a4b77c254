package bpf

import (
	"errors"
	"os"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

// probed has no stack check at its start: the check would call it again after the stack has grown.
//
//go:noinline
//go:nosplit
func probed() int { return 1 }

// Every mode of this kernel delivers every entry and return of a function of the test.
func TestModesDeliver(t *testing.T) {
	for mode := Session; mode <= Perf; mode++ {
		t.Run(mode.String(), func(t *testing.T) {
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
			deliver(t, p)
		})
	}
}

// deliver places a probe, and checks the records of its hits.
func deliver(t *testing.T, p *Probes) {
	t.Helper()
	if _, err := p.AddRow(Row{}); err != nil { // so that ours is not the first
		t.Fatal(err)
	}
	row, err := p.AddRow(Row{Flags: RowEntry | RowReturn})
	if err != nil {
		t.Fatal(err)
	}
	off, err := testbin.FileOffset(reflect.ValueOf(probed).Pointer())
	if err != nil {
		t.Fatal(err)
	}
	link, err := p.Attach("/proc/self/exe", os.Getpid(), []Point{{Offset: off, Row: row, Return: true}})
	if err != nil {
		t.Fatal(err)
	}
	const calls = 100
	for range calls {
		probed()
	}
	link.Close()
	rings, err := p.Rings()
	if err != nil {
		t.Fatal(err)
	}
	entries, returns := 0, 0
	for _, r := range rings {
		_, err := r.Drain(1<<20, &Uses{Record: func(rec *Record, _ []uint64) {
			switch {
			case int(rec.Pid) != os.Getpid() || uint32(rec.Row) != row:
				t.Errorf("stray record %+v", rec)
			case rec.Flags&RecReturn != 0:
				returns++
				if rec.A != 1 {
					t.Errorf("returned %d, want 1", rec.A)
				}
			default:
				entries++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	if entries != calls || returns != calls {
		t.Errorf("%d entries and %d returns of %d calls", entries, returns, calls)
	}
	dropped, err := p.Dropped()
	if err != nil || len(dropped) > 0 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
}
