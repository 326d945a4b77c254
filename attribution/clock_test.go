package attribution

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
)

// A process is stopped between any two of its events, with some threads running on for a moment.
// However often that happens, the profile is that of the process that was never stopped.
func TestStopsAreNobodysTime(t *testing.T) {
	const length = 50_000
	stops := 0
	for _, tc := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases, pauseCases) {
		events := parse(t, tc.events)
		if tc.end == 0 {
			tc.end = 1000
		}
		for _, every := range []int{1, 2, 5} {
			e := New(1, fakeFiles{})
			var late, last uint64 // how much later all is because of the stops
			for i, ev := range events {
				if i%every == 0 && allBefore(events[:i], events[i:]) {
					e.Advance(last + length/2) // the reader does not know of it yet
					e.Stopped(Stop{From: last - min(last, 3), To: last + length})
					late += length
					stops++
				}
				ev.Time += late
				last = max(last, ev.Time)
				e.Feed(&ev)
			}
			end := tc.end + late
			if d := cmp.Diff(lines(tc.want), table(e.Finish(end))); d != "" {
				t.Errorf("%s, stopped before each %d. event: -want +got\n%s", tc.name, every, d)
			}
			if got, want := e.Elapsed(0, end), int64(tc.end)-e.in.OffTime.T; got != want {
				t.Errorf("%s: %d ns elapsed, want %d", tc.name, got, want)
			}
		}
	}
	if stops < 500 {
		t.Errorf("only %d stops were tried", stops)
	}
}

// allBefore tells whether some events happened before others.
func allBefore(some, others []event.Event) bool {
	for _, a := range some {
		for _, b := range others {
			if a.Time >= b.Time {
				return false
			}
		}
	}
	return true
}

// What happened before a stop may be read after it.
func TestClockOfEarlierTimes(t *testing.T) {
	e := New(1, fakeFiles{})
	e.Advance(150) // the reader did not know of the stop
	e.Stopped(Stop{From: 100, To: 200})
	if e.in.now != 100 {
		t.Errorf("all up to %d has been read, want 100", e.in.now)
	}
	e.Stopped(Stop{From: 300, To: 310})
	for at, want := range map[uint64]uint64{0: 0, 100: 100, 150: 100, 200: 100, 250: 150, 300: 200, 305: 200, 310: 200, 1000: 890} {
		if got := e.in.clock.at(at); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
}

// All times of an event are converted, and those of the event that was given stay as they are.
func TestAllTimesAreConverted(t *testing.T) {
	c := clock{stops: []Stop{{From: 100, To: 200}}, sum: 100}
	given := event.Event{Time: 1000, MPI: &event.MPICall{Start: 900}, Fold: &event.Fold{Last: 990}, OffCore: &event.OffCoreTime{Off: 800, Woken: 850}}
	v := c.convert(&given)
	if v.Time != 900 || v.MPI.Start != 800 || v.Fold.Last != 890 || v.OffCore.Off != 700 || v.OffCore.Woken != 750 {
		t.Errorf("at %d, call from %d, fold to %d, off core from %d to %d", v.Time, v.MPI.Start, v.Fold.Last, v.OffCore.Off, v.OffCore.Woken)
	}
	if given.Time != 1000 || given.MPI.Start != 900 || given.Fold.Last != 990 || given.OffCore.Off != 800 {
		t.Errorf("the event itself has changed: %+v", given)
	}
	if v := c.convert(&event.Event{Time: 300, OffCore: &event.OffCoreTime{Off: 250}}); v.OffCore.Woken != 0 || v.MPI != nil || v.Fold != nil {
		t.Errorf("parts that the event does not have: %+v", v)
	}
}
