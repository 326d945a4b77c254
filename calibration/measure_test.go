package calibration

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
)

// unread checks that the rings of measured processes are empty.
func unread(t *testing.T, k *bpf.Probes) {
	rings, err := k.Rings()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rings {
		n, err := r.Drain(1, &bpf.Uses{Record: func(*bpf.Record, []uint64) {}, Fold: func(*bpf.FoldRecord, *bpf.FoldCounters) {}})
		if n != 0 || err != nil {
			t.Errorf("calibration wrote to a ring that is not its own (%v)", err)
		}
		r.Close()
	}
}

// measured calls Measure until its figures contradict each other nowhere, five times at most. Where
// others have the processors all the time, Measure may give up, or know of no cost of returns. The
// figures of a faulty Measure contradict each other each time.
func measured(k *bpf.Probes) (c *Costs, err error) {
	for range 5 {
		c, err = Measure(k)
		if err == nil && c.Return.Sum() > 0 || err != nil && !errors.Is(err, errContradicted) {
			break
		}
	}
	return c, err
}

// In each mode of this kernel, every hit of the program is reported, and the costs are positive.
// The clock is read between a hit's beginning and its end.
func TestMeasure(t *testing.T) {
	for mode := bpf.Session; mode <= bpf.Perf; mode++ {
		t.Run(mode.String(), func(t *testing.T) {
			k, err := bpf.LoadProbes(mode)
			if errors.Is(err, unix.EPERM) {
				t.Skip("loading BPF programs is not permitted")
			}
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			if k.Mode() != mode {
				t.Skipf("this kernel has no %s", mode)
			}
			begin := time.Now()
			c, err := measured(k)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v in %s", *c, time.Since(begin))
			for what, s := range map[string]Split{"emulated": c.Emulated, "call": c.Call, "single-stepped": c.SingleStep, "return": c.Return, "folded return": c.FoldedReturn} {
				// A return's part before its time stamp may be none: it is a small difference.
				if s.Sum() <= 0 || !strings.HasSuffix(what, "return") && (s.Before <= 0 || s.After <= 0) {
					t.Errorf("%s: %+v", what, s)
				}
			}
			if _, has := programs[runtime.GOARCH].bodies[jump]; has != (c.Jump.Sum() > 0) {
				t.Errorf("jump: %+v", c.Jump)
			}
			if _, has := programs[runtime.GOARCH].bodies[nop5]; has != (c.Nop5.Sum() > 0) {
				t.Errorf("nop5: %+v", c.Nop5)
			}
			if w := c.Crowd; runtime.NumCPU() > 1 && (w.Threads != runtime.NumCPU() || w.Alone <= 0 || w.Each <= 0 || w.Times() < 1) {
				t.Errorf("many threads: %+v", w)
			}
			if c.Mode != mode.String() {
				t.Errorf("by %s", c.Mode)
			}
			if _, err := measured(k); err != nil {
				t.Errorf("once more: %v", err)
			}
			if err := k.HoldFolds(); err != nil { // as while probes are placed
				t.Fatal(err)
			}
			if c, err := measured(k); err != nil || c.Folded.Sum() <= 0 {
				t.Errorf("while others must not add up: %+v, %v", c, err)
			}
			unread(t, k)
		})
	}
}
