package analysis

import "ompp-attach/profile"

// lives describes the initial threads that share one row.
type lives struct {
	threads int
	lived   int64 // sum of their lifetimes, ns
}

// livesOf returns the lives of initial threads, by Root. Threads whose lifetime is not recorded
// count as alive throughout.
func livesOf(p *profile.Profile) map[int]lives {
	out := map[int]lives{}
	for _, t := range p.Threads {
		if t.Num == profile.UnknownNum {
			continue
		}
		if _, ok := out[t.Root]; !ok || t.Num == 0 {
			l := lives{max(1, t.Joined), t.Lived}
			if t.Lived == 0 || t.Root == 0 {
				l = lives{1, p.Meta.Duration}
			}
			// No thread lived longer than the measured time, from which probes' time
			// may have been taken.
			l.lived = min(l.lived, p.Meta.Duration*int64(l.threads))
			out[t.Root] = l
		}
	}
	return out
}

// initialTime returns the sum of the lifetimes of all initial threads, ns.
func initialTime(p *profile.Profile) (sum int64) {
	for _, l := range livesOf(p) {
		sum += l.lived
	}
	return max(sum, p.Meta.Duration)
}

// LifeTimes returns, for each row of Profile.Threads, how long the threads of the row lived, in ns.
// The sum is ThreadTime, unless the profile has no threads.
func LifeTimes(p *profile.Profile) []int64 {
	out, numbered, lives := make([]int64, len(p.Threads)), map[int]bool{}, livesOf(p)
	for i, t := range p.Threads {
		if t.Num != profile.UnknownNum {
			out[i] = lives[t.Root].lived
			for _, id := range t.TIDs {
				numbered[id] = true
			}
		}
	}
	for i, t := range p.Threads {
		if t.Num == profile.UnknownNum {
			for _, id := range t.TIDs {
				if !numbered[id] {
					out[i] += p.Meta.Duration
				}
			}
		}
	}
	return out
}
