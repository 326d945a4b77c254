package bpf

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// probed has no stack check at its start, which would run it again after the
// stack has grown.
//
//go:noinline
//go:nosplit
func probed() int { return 1 }

// Every mode of this kernel delivers every entry and return of a function of the test, in order,
// with the stack pointer by which they match.
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
			if _, err := p.AddRow(Row{}); err != nil { // so that ours is not the first
				t.Fatal(err)
			}
			row, err := p.AddRow(Row{Flags: RowEntry | RowReturn})
			if err != nil {
				t.Fatal(err)
			}
			off, err := offsetOf(reflect.ValueOf(probed).Pointer())
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
		})
	}
}

// offsetOf converts an address of this executable to a file offset.
func offsetOf(addr uintptr) (uint64, error) {
	f, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	return offsetIn(string(f), uint64(addr))
}

func offsetIn(maps string, addr uint64) (uint64, error) {
	for _, line := range strings.Split(maps, "\n") {
		var lo, hi, off uint64
		var perm string
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x", &lo, &hi, &perm, &off); n == 4 && lo <= addr && addr < hi {
			return addr - lo + off, nil
		}
	}
	return 0, fmt.Errorf("address %#x is not mapped", addr)
}
