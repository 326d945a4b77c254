package efficiency

import (
	"math"

	"ompp-attach/analysis"
	"ompp-attach/event"
)

// Nested teams. The time of a process is that of as many threads as the process has rows. The
// primary thread of an inner team is a thread of the outer team, too. The inner team's other
// threads are threads of their own. Their time counts as time of the process only if their rows are
// in none of the outer teams.

// teamThread is a thread in an outermost parallel region.
type teamThread struct {
	outermost int // node
	thread    int
}

// innerTime is the time of a thread that is in inner teams only.
type innerTime struct {
	time     int64
	barriers int64 // see waitsForTeam
	classes  analysis.Classes
}

func (w *walker) innerOf(outermost, thread int) *innerTime {
	k := teamThread{outermost, thread}
	if w.inner[k] == nil {
		w.inner[k] = &innerTime{}
	}
	return w.inner[k]
}

// apart tells whether a row of an inner team is in no team around that team.
func (w *walker) apart(team, thread int) bool {
	for up := w.paths.Team(w.p.Nodes[team].Parent); up >= 0; up = w.paths.Team(w.p.Nodes[up].Parent) {
		if w.has(up, thread) {
			return false
		}
	}
	return true
}

func (w *walker) has(node, thread int) bool {
	for i := range w.p.Nodes[node].Stats {
		if w.p.Nodes[node].Stats[i].Thread == thread {
			return true
		}
	}
	return false
}

// innerTeams adds the time of threads that are in inner teams only, and returns this time. Threads
// of several inner teams may share a row. Together they count for no longer than the outermost
// region lasted.
func (w *walker) innerTeams() (all int64) {
	for at, in := range w.inner {
		var most int64
		for i := range w.p.Nodes[at.outermost].Stats {
			s := &w.p.Nodes[at.outermost].Stats[i]
			if t := w.p.Threads[s.Thread]; t.Num == 0 && t.Root == w.p.Threads[at.thread].Root {
				most = s.Exec.T
			}
		}
		share := min(1, analysis.Ratio(most, in.time))
		scale := func(t int64) int64 { return int64(math.Round(share * float64(t))) }
		c := in.classes
		c = analysis.Classes{Synch: scale(c.Synch), Imbal: scale(c.Imbal), Limpar: scale(c.Limpar), Mgmt: scale(c.Mgmt),
			MPI: scale(c.MPI), NoCore: scale(c.NoCore)}
		w.charge(at.thread, &c, scale(in.barriers))
		all += w.spend(at.thread, min(in.time, most))
	}
	return all
}

// charge adds the losses of a thread in parallel regions to the process. waits is the part of the
// losses that TALP counts as load imbalance although it is synchronisation here (see waitsForTeam).
func (w *walker) charge(thread int, c *analysis.Classes, waits int64) {
	w.Parts.charge(c)
	w.useful[thread] -= c.Sum()
	w.barriers += waits
}

// waitsForTeam returns the part of synchronisation that is waiting for the team or for tasks.
func waitsForTeam(construct event.Construct, c *analysis.Classes) int64 {
	if construct == event.Barrier || construct.IsTasking() {
		return c.Synch
	}
	return 0
}
