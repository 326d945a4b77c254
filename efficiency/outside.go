package efficiency

import (
	"math"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// idle adds the time outside of regions: the time of initial threads there, and the time of the
// other threads meanwhile.
func (w *walker) idle() {
	for node, list := range analysis.IdleThreads(w.p) {
		var own Parts
		team := w.paths.Team(node) >= 0
		if node > 0 && analysis.StartsEnds(&w.p.Regions[w.p.Nodes[node].Region]) {
			continue
		}
		for _, x := range list {
			r := w.roots[w.p.Threads[x.Thread].Root]
			if team {
				own[TeamIdle] += x.Time
				r.teamIdle += x.Time
				continue
			}
			own[SerialIdle] += x.Time - x.MPI
			own[MPIIdle] += x.MPI
			r.idle += x.Time
		}
		w.Parts.Add(&own)
		if node > 0 {
			w.regions[w.p.Nodes[node].Region].Own.Add(&own)
		}
	}
	for _, r := range w.roots {
		r.lived = max(r.lived, r.parallel)
		outside, others := r.lived-r.parallel, int64(max(1, r.threads)-1)
		w.Parts[Serial] += outside
		w.InTeams += (others + 1) * r.parallel
		w.InSerial += (others + 1) * (outside - min(r.outside, outside))
		in := others*r.parallel - r.workers - r.teamIdle
		w.UnknownIn += max(0, in)
		// A pause of the measurement may cut a region off later for a worker than for the initial
		// thread.
		longer := min(max(0, -in), (others+1)*(outside-min(r.outside, outside)))
		w.InTeams += longer
		w.InSerial -= longer
		w.Parts[Unknown] += in + others*outside - r.idle
	}
	w.Parts[Serial] -= w.Parts[SerialMPI] + w.Parts[SerialWait] + w.serialNoCore
	for i := range w.Parts { // a part below 0 is small: clocks of threads differ
		if t := w.Parts[i]; t < 0 {
			w.Parts[i] = 0
			w.Parts.takeOut(-t, SerialIdle, MPIIdle, TeamIdle, Unknown, Work, Serial)
		}
	}
	w.Wall = w.p.Meta.Duration
}

// primary notes the figures of the primary thread, and the greatest useful time of a thread.
func (w *walker) primary() {
	r := w.roots[0]
	for i, t := range w.p.Threads {
		if t.Num == 0 {
			first := w.roots[t.Root]
			w.useful[i] += first.lived - first.parallel
			if t.Root == 0 {
				w.StartEnd = w.ends.All[i]
			}
		}
	}
	w.Wall = max(0, w.Wall-w.StartEnd)
	for i, useful := range w.useful {
		t := &w.p.Threads[i]
		lived := w.roots[t.Root].lived
		if t.Num == profile.UnknownNum {
			lived *= int64(max(1, len(t.TIDs)))
		}
		w.MaxUseful = max(w.MaxUseful, min(w.Wall, int64(math.Round(float64(w.Wall)*analysis.Ratio(useful, lived)))))
	}
	if r == nil {
		w.OutMPI = w.Wall
		return
	}
	w.Parallel, w.Outside = min(r.parallel, w.Wall), min(r.outside, w.Wall)
	w.OutMPI = max(0, w.Wall-w.primaryMPI())
}

// primaryMPI returns the primary thread's time in MPI, in regions or not, without the start and end
// of MPI.
func (w *walker) primaryMPI() (t int64) {
	for i := range w.p.Nodes[0].Stats {
		s := &w.p.Nodes[0].Stats[i]
		if th := w.p.Threads[s.Thread]; th.Root == 0 && th.Num == 0 && s.MPI != nil {
			t += s.MPI.T - w.ends.All[s.Thread]
		}
	}
	return max(0, t)
}
