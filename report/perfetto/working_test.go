package perfetto

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/timeline"
)

// The counter of a process is the number of threads that are in regions and do not wait.
func TestCounter(t *testing.T) {
	works, waits := ran(1, 100, 500), ran(1, 100, 500)
	works.Parts[timeline.Body].T = 400
	waits.TID, waits.Parts[timeline.Body].T, waits.Parts[timeline.Barrier].T = 6, 200, 200
	later := ran(1, 700, 900)
	fold := ran(4, 720, 800) // within a region, the thread works
	fold.Kind, fold.Exec.C = timeline.Fold, 9
	var b bytes.Buffer
	if _, err := Write(&b, []*timeline.File{recorded(t, works, waits, fold, later)}, func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	const of = "threads at work (means of 1ns): "
	want := []string{of + "100 2", of + "300 1", of + "500 0", of + "700 1", of + "900 0"}
	if d := cmp.Diff(want, readTrace(t, b.Bytes()).values); d != "" {
		t.Error(d)
	}
}

// Whatever the width of the bins, no time gets lost.
func TestWorkingBins(t *testing.T) {
	for _, length := range []uint64{1, 999, 1000, 1001, 123_457, 1 << 40} {
		w := newWorking(77, 77+length)
		w.add(77, 77+length/2)
		w.add(77+length/2, 77+length)
		sum := uint64(0)
		for _, v := range w.bins {
			sum += v
		}
		if sum != length {
			t.Errorf("%d of %d ns", sum, length)
		}
	}
}
