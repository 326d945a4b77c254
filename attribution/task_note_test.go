package attribution

import (
	"slices"
	"testing"

	"ompp-attach/event"
)

// TestUndeferredNote: a task that the call that creates it executes is noted. One that only begins
// while its thread is in such a call is not.
func TestUndeferredNote(t *testing.T) {
	for _, tc := range []struct {
		name, events string
		want         bool
	}{
		{"GCC's undeferred task", `
			0 1 enter task fn=321 site=400
			2 1 begin taskexec
			9 1 end taskexec
			10 1 released task`, true},
		{"libomp's included task", `
			0 1 fork parallel fn=300 key=7 size=1 site=90
			0 1 begin parallel
			1 1 enter task fn=321 key=9
			2 1 begin taskexec key=9
			9 1 end taskexec key=9
			10 1 released task
			20 1 end parallel
			20 1 join parallel`, true},
		{"another task that is executed in the call", `
			0 1 fork parallel fn=300 key=7 size=1 site=90
			0 1 begin parallel
			1 1 enter task fn=321 key=8
			2 1 released task
			3 1 enter task fn=321 key=9
			4 1 begin taskexec key=8
			9 1 end taskexec key=8
			10 1 released task
			20 1 end parallel
			20 1 join parallel`, false},
		{"a task that waits for a barrier", `
			0 1 fork parallel fn=300 key=7 size=1 site=90
			0 1 begin parallel
			1 1 enter task fn=321 key=9
			2 1 released task
			3 1 wait barrier site=410
			4 1 begin taskexec key=9
			9 1 end taskexec key=9
			10 1 waited barrier
			20 1 end parallel
			20 1 join parallel`, false},
	} {
		found, noted := false, false
		for _, r := range replay(parse(t, tc.events), 1000).Regions {
			if r.Construct == event.TaskExec {
				found, noted = true, noted || slices.Contains(r.Notes, noteUndeferred)
			}
		}
		if !found || noted != tc.want {
			t.Errorf("%s: execution found %v, noted %v, want %v", tc.name, found, noted, tc.want)
		}
	}
}
