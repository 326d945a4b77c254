package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The rank that failed first comes first, then the ranks that failed after it. Ranks that left only
// a snapshot come before ranks that ended well.
func TestFates(t *testing.T) {
	start := time.Unix(1000, 0)
	rank := func(n int, ended string, exit int, ms int, shot time.Time) Rank {
		return Rank{RankProcess: RankProcess{Rank: n}, RankLife: RankLife{Ended: ended, Exit: exit, Start: start,
			EndedAt: start.Add(time.Duration(ms) * time.Millisecond), SnapshotAt: shot}}
	}
	segv, term := "killed by signal 11 (segmentation fault)", "killed by signal 15 (terminated)"
	early, late := start.Add(time.Minute), start.Add(2*time.Minute)
	j := &Job{Ranks: []Rank{rank(0, term, 143, 60, time.Time{}), rank(1, "exit status 0", 0, 10, time.Time{}), rank(2, term, 143, 55, time.Time{}),
		rank(3, segv, 139, 50, time.Time{}), rank(4, "", 0, 5, late), rank(5, "", 0, 5, early), rank(6, "exit status 3", 0, 70, time.Time{})}}
	want := []Fate{
		{Ended: segv, Ranks: []int{3}, First: 50 * time.Millisecond},
		{Ended: "exit status 3", Ranks: []int{6}, First: 70 * time.Millisecond},
		{Ended: term, Ranks: []int{0, 2}, First: 55 * time.Millisecond},
		{Well: true, Ranks: []int{4, 5}, First: 5 * time.Millisecond, Until: early},
		{Ended: "exit status 0", Well: true, Ranks: []int{1}, First: 10 * time.Millisecond},
	}
	if d := cmp.Diff(want, j.Fates()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
