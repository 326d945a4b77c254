package analysis

import "ompp-attach/profile"

// Idle returns the time of threads outside of all regions that is not serial code: that of workers
// without a team, in ns. It is what is left of all threads' time. It is 0 where nested teams have
// more threads than the profile has rows.
func Idle(p *profile.Profile) int64 {
	left := ThreadTime(p)
	for i := 1; i < len(p.Nodes); i++ {
		for k := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[k]
			left -= s.Exec.T - s.Child
		}
	}
	for _, s := range SerialTimes(p) {
		left -= s.Time
	}
	return max(0, left)
}

// SerialTime returns the time of all initial threads outside of all regions, in ns.
func SerialTime(p *profile.Profile) (t int64) {
	for _, s := range SerialTimes(p) {
		t += s.Time
	}
	return t
}
