package triggered

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ompp-attach/collect/control"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
	"ompp-attach/timeline/trigger"
)

// triggered returns conditions of a process, whose snapshots are written by dump.
func triggered(t *testing.T, dump func() (string, error)) *Snapshots {
	t.Helper()
	c, err := trigger.Parse("barrier: EXECT > 1ms")
	if err != nil {
		t.Fatal(err)
	}
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 4 << 20}, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	x := New(rec, []*trigger.Condition{c}, 1e9, dump, nil)
	x.sink.Define(timeline.Definition{ID: 1, Construct: event.Barrier})
	return x
}

// TestSnapshots: whatever comes, there are so many snapshots at most, with a rest between, and the
// report has how many executions there were.
func TestSnapshots(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		most int
		said string
	}{
		"written":  {nil, most, "snapshot.1.json.gz, snapshot.2.json.gz"},
		"refused":  {errors.New("the disk is full"), 1, "could not be written: the disk is full."},
		"it ended": {control.ErrNotMeasured, 1 << 30, "fulfilled by 3000 executions, first by one that ended 0.500000 s after"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var at []time.Time
				x := triggered(t, func() (string, error) {
					mu.Lock()
					defer mu.Unlock()
					at = append(at, time.Now())
					return fmt.Sprintf("/x/snapshot.%d.json.gz", len(at)), tc.err
				})
				for i := range 3000 {
					for _, length := range []uint64{2e6, 1000} {
						x.sink.Span(&timeline.Span{TID: 5, Node: 1, From: 1.5e9 - length, To: 1.5e9, Exec: profile.Sum{T: int64(length), C: 1}})
					}
					if time.Sleep(10 * time.Millisecond); i%100 == 0 {
						_ = x.Sentences()
					}
				}
				time.Sleep(2 * rest) // until the last snapshot is over
				x.sink.End(&timeline.Dictionary{})
				mu.Lock()
				defer mu.Unlock()
				for i := range at[1:] {
					if d := at[i+1].Sub(at[i]); d < rest {
						t.Errorf("two snapshots are %s apart", d)
					}
				}
				said := strings.Join(x.Sentences(), " ")
				if len(at) == 0 || len(at) > tc.most || !strings.Contains(said, tc.said) || !strings.Contains(said, "3000 executions") {
					t.Errorf("%d snapshots: %s", len(at), said)
				}
			})
		})
	}
}
