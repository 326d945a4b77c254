package job

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Fate describes how some ranks ended.
type Fate struct {
	Ended string // in words; empty: not known
	Well  bool   // false: the profile says that the rank's program failed
	Ranks []int
	First time.Duration // time from the start to the end of the rank that ended first
	// Until is the end of the earliest snapshot, if the ranks have left snapshots only. Zero: the
	// profiles are whole.
	Until time.Time
}

// Fates returns how the ranks ended. Ranks that failed come first, ordered by the time of their
// end. After them come ranks that the launcher seems to have ended. Times alone do not tell these
// apart, because the clocks of nodes differ.
func (j *Job) Fates() (fates []Fate) {
	ends := map[int]time.Time{}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		at := slices.IndexFunc(fates, func(f Fate) bool {
			return f.Ended == r.Ended && f.Well == r.Well() && f.Until.IsZero() == r.SnapshotAt.IsZero()
		})
		if at < 0 {
			at = len(fates)
			fates = append(fates, Fate{Ended: r.Ended, Well: r.Well(), Until: r.SnapshotAt})
		}
		f := &fates[at]
		f.Ranks = append(f.Ranks, r.Rank)
		if first, known := ends[at]; !known || r.EndedAt.Before(first) {
			ends[at], f.First = r.EndedAt, r.EndedAt.Sub(r.Start)
		}
		if r.SnapshotAt.Before(f.Until) {
			f.Until = r.SnapshotAt
		}
	}
	order := make([]int, len(fates))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		switch f := &fates[i]; {
		case !f.Well && !f.sentByLauncher():
			return 0
		case !f.Well:
			return 1
		case !f.Until.IsZero():
			return 2
		}
		return 3
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), ends[a].Compare(ends[b])) })
	sorted := make([]Fate, 0, len(fates))
	for _, i := range order {
		sorted = append(sorted, fates[i])
	}
	return sorted
}

// sentByLauncher tells whether the ranks were killed by a signal that launchers send to the other
// ranks when one has failed.
func (f *Fate) sentByLauncher() bool {
	return strings.HasPrefix(f.Ended, "killed by signal 9 ") || strings.HasPrefix(f.Ended, "killed by signal 15 ")
}

// Well tells whether nothing in the profile says that the rank's program failed.
func (r *Rank) Well() bool {
	status, exited := strings.CutPrefix(r.Ended, "exit status ") // older profiles have no Exit
	return r.Exit == 0 && (!exited || status == "0") && !strings.HasPrefix(r.Ended, "killed by ") && !strings.HasPrefix(r.Ended, "not known")
}
