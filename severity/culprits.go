package severity

import (
	"slices"
	"strings"
)

// Role says how a culprit made others wait.
type Role uint8

// The roles.
const (
	CameLast    Role = iota + 1 // it came last to a barrier
	HeldLock                    // it held a lock for which others asked
	CreatedLate                 // it created tasks late, and others waited for them
	RankLate                    // it came late to an MPI call
	RanTask                     // it executed tasks for which others waited
)

// Culprit is a thread or a rank for which others waited.
type Culprit struct {
	Role   Role
	Thread int // index in Cube.Threads; -1: not known
	Rank   int // in MPI_COMM_WORLD; -1: of no job
	Path   int // index in Cube.Paths: where the culprit made others wait
	// From is the path from which the culprit came last to the barriers of the team; -1: Path, or
	// not known. Mostly: the culprit came from other paths, too.
	From   int
	Mostly bool
	Time   int64 // of the others' waits, ns
	Bound  int64 // how wrong Time may be, because machines' clocks were compared, ns; 0: exact
	Times  int64 // number of waits, or of instances in which the culprit came last; 0: not known
}

// Culprits returns the threads and ranks for which threads waited in a finding, the most severe
// first. Their times may exceed the finding's, which leaves out the time that waiting threads had
// no core.
func (c *Cube) Culprits(f *Finding) (out []Culprit) {
	add := func(role Role, x Cause) {
		out = append(out, Culprit{Role: role, Thread: x.Thread, Rank: c.rankOf(x.Thread), Path: x.Path, From: -1, Time: x.Time, Times: x.Times})
	}
	switch p := &c.Properties[f.Property]; {
	case p.ID == NoTask:
		for _, x := range c.Creators(f.Path) {
			add(CreatedLate, x)
		}
	case p.Gain == Balance:
		for _, x := range c.LastAt(f.Path) {
			add(CameLast, x)
			from := c.CameFrom(f.Path, x.Thread)
			if len(from) > 0 && !slices.ContainsFunc(from, func(x Cause) bool { return x.Path == f.Path }) {
				last := &out[len(out)-1]
				last.From, last.Mostly = from[0].Path, len(from) > 1
			}
		}
		fallthrough
	case p.ID == Taskwait:
		if c.ForTasks(f.Path) > 0 {
			for _, x := range c.Executors(f.Path) {
				add(RanTask, x)
			}
		}
	default:
		for _, b := range c.Blamed(f.Property, f.Path) {
			out = append(out, Culprit{Role: RankLate, Thread: b.DueThread, Rank: b.Rank, Path: b.DuePath, From: -1, Time: b.Time, Bound: b.Bound, Times: int64(b.Times)})
		}
		if len(out) > 0 || !slices.ContainsFunc(f.Parts, func(p Part) bool { return strings.HasSuffix(c.Properties[p.Property].ID, Contended) }) {
			return out
		}
		for _, x := range c.Holders(f.Path) {
			add(HeldLock, x)
		}
	}
	return out
}

// Names reports whether a late rank's thread is to be named: each rank has an initial thread, which
// need not be.
func (c *Cube) Names(thread int) bool {
	return c.Level == ByThread && thread >= 0 && (c.Threads[thread].Num != 0 || c.Threads[thread].Root != 0)
}

// rankOf returns the rank of a thread's process; -1: it has none.
func (c *Cube) rankOf(thread int) int {
	if p := c.Threads[thread].Process; p >= 0 {
		return c.Processes[p].Rank
	}
	return -1
}
