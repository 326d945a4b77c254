package analysis

import "ompp-attach/profile"

// lives are initial threads that have one row.
type lives struct {
	threads int
	lived   int64 // in all, ns
}

// livesOf returns the initial threads by Root. Those whose life is not told are taken to
// have lived throughout.
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
			// None lived longer than was measured, without what the probes took.
			l.lived = min(l.lived, p.Meta.Duration*int64(l.threads))
			out[t.Root] = l
		}
	}
	return out
}

// initialTime is the time that all initial threads had.
func initialTime(p *profile.Profile) (sum int64) {
	for _, l := range livesOf(p) {
		sum += l.lived
	}
	return max(sum, p.Meta.Duration)
}
