package analysis

import "ompp-attach/profile"

// IdleTimes returns how long each thread of Profile.Threads was idle, ns (see IdleThreads).
func IdleTimes(p *profile.Profile) []int64 {
	out := make([]int64, len(p.Threads))
	for _, idle := range IdleThreads(p) {
		for _, x := range idle {
			out[x.Thread] += x.Time
		}
	}
	return out
}

// Idle returns the time of all threads that were idle, ns (see IdleThreads).
func Idle(p *profile.Profile) (sum int64) {
	for _, t := range IdleTimes(p) {
		sum += t
	}
	return sum
}

// SerialTime returns the time of all initial threads outside of all regions, in ns.
func SerialTime(p *profile.Profile) (t int64) {
	for _, s := range SerialTimes(p) {
		t += s.Time
	}
	return t
}
