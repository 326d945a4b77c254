package attribution

import "testing"

// TestWasInside: at the end of measurement some threads are in a region, others have left theirs,
// and libgomp has ended others by what looks like the beginning of a region.
func TestWasInside(t *testing.T) {
	events := parse(t, `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		1 1 begin parallel
		2 2 begin parallel key=7 num=1
		8 2 end parallel
		9 1 end parallel
		10 1 join parallel
		11 2 begin parallel key=7 num=1
		20 3 fork parallel fn=300 key=8 size=2 site=90
		21 3 begin parallel
		22 4 begin parallel key=8 num=1
		30 5 fork parallel fn=310 key=9 size=2 site=95
		31 5 begin parallel
		32 6 begin parallel key=9 num=1
		34 6 end parallel
		35 5 end parallel
		36 5 join parallel
		`)
	finished, goesOn := New(1, fakeFiles{}), New(1, fakeFiles{})
	for i := range events {
		finished.Feed(&events[i])
		goesOn.Feed(&events[i])
	}
	finished.Finish(100)
	goesOn.Advance(1e9) // everything has been read: nobody waits any more
	snapshot := goesOn.Copy(fakeFiles{})
	snapshot.Snapshot(100)
	for what, e := range map[string]*Engine{"at the end": finished, "in a snapshot": snapshot} {
		for tid, want := range map[uint32]bool{1: false, 2: false, 3: true, 4: true, 5: false, 6: false} {
			if e.WasInside(tid) != want {
				t.Errorf("%s: thread %d is in a construct: %t", what, tid, !want)
			}
		}
	}
}
