package job

import (
	"slices"
	"strings"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/efficiency"
	"ompp-attach/profile"
)

// Rank is one process of the job. Times are in ns.
type Rank struct {
	RankProcess
	RankLife
	RankTimes
	RankMPI
	RankTrust
	Calls      Figures
	Overheads  analysis.Classes // in all regions and outside, summed over threads
	Efficiency efficiency.Process
	// Hot is the sampled time by function of the program, outside of MPI and of waiting.
	Hot map[string]int64
}

// RankProcess says which process a rank is.
type RankProcess struct {
	Rank    int
	File    string
	Host    string
	Program string
	PID     int
	Tool    string
	UsesMPI bool
	MPI     profile.MPIJob
	Clock   string       // profile.Meta.ClockName
	CPUs    profile.CPUs // on which the rank's threads might run; empty: not known
	Quota   *profile.Quota
	Threads int
}

// RankLife says when a rank was measured, and how it ended.
type RankLife struct {
	Ended string // in words; empty: the measurement went on
	Exit  int    // exit status; 0: success, or not known
	// SnapshotAt is the end of a snapshot; zero: the profile is whole.
	SnapshotAt time.Time
	Start      time.Time
	EndedAt    time.Time
	End        time.Time
}

// RankTimes divides a rank's time, ns.
type RankTimes struct {
	Wall         int64 // measured wall time
	Parallel     int64 // time of initial threads in parallel regions
	User, System int64 // CPU time
	ThreadTime   int64 // wall time times threads
	// Times outside of all regions: Serial of initial threads, Idle of workers.
	Serial, Idle int64
	// Times in no overhead class: Work in regions, SerialWork of initial threads outside. If nested
	// teams have more threads than the profile has rows, Work may exceed ThreadTime.
	Work, SerialWork int64
	ProbeCost        int64 // time that probes took of all threads together
	CostKnown        bool  // ProbeCost is known
	CostLowered      bool  // ProbeCost is an estimate (see analysis.CostLowered)
	Adjusted         bool  // times are without ProbeCost (see analysis.Adjust)
	// NoCore is the time in which threads were ready to run and had no core, in regions or not.
	NoCore int64
	// HeldUp is for how long threads without a core held up the rank outside of MPI. In a team, the
	// thread counts that lacked a core for longest (heldUp).
	HeldUp int64
}

// RankMPI is a rank's time in MPI, ns.
type RankMPI struct {
	MPITime int64 // summed over threads
	MPIWall int64 // of the thread that was in MPI for longest
	// StartEnd is the part of MPITime in calls that begin or end MPI. StartEndCalls are the
	// operations of these calls. Communicating is the remaining time in MPI, of the thread that has
	// most of it.
	StartEnd      int64
	StartEndCalls []string
	Communicating int64
	InitT         int64 // the part of MPIWall in MPI_Init
	// LateBy is how much later this rank left MPI_Init than the first rank; 0: not known.
	LateBy int64
	// GoneFor is how long before the end of the last rank this rank failed; 0: it did not fail, or
	// this is not known.
	GoneFor int64
}

// RankTrust says which figures a rank lacks, and which of its figures are derived.
type RankTrust struct {
	LostHits     uint64
	Partial      uint64
	Edges        profile.Edges // how many ends of calls were derived
	Warnings     []string
	Executable   *profile.Object // the program's file; nil: not known
	LeftOut      string          // constructs that the user did not want to see
	Extrapolated string          // constructs that were not observed all of the time; empty: none
}

// MeasuredTime returns ThreadTime as it was measured, which includes the time that probes took, in
// ns.
func (r *Rank) MeasuredTime() int64 {
	if r.Wall <= 0 {
		return r.ThreadTime
	}
	return int64(float64(r.ThreadTime) * (float64(r.End.Sub(r.Start)) / float64(r.Wall)))
}

// Communication returns the time of all threads in MPI, without the start and end of MPI, in ns.
func (r *RankMPI) Communication() int64 { return max(0, r.MPITime-r.StartEnd) }

func rankOf(p *profile.Profile, file string, rank int) Rank {
	m := &p.Meta
	r := Rank{
		RankProcess: RankProcess{Rank: rank, File: file, Host: m.Host, Program: m.Program, PID: m.PID, Tool: m.Tool,
			Clock: m.ClockName(), CPUs: m.CPUs, Quota: m.Quota, Threads: analysis.Threads(p)},
		RankLife: lifeOf(m),
		RankTimes: RankTimes{Wall: m.Duration, User: m.UserTime, System: m.SysTime, ThreadTime: analysis.ThreadTime(p),
			Serial: analysis.SerialTime(p), Idle: analysis.Idle(p), Parallel: analysis.ParallelCoverage(p).Wall,
			NoCore: analysis.NoCore(p), HeldUp: heldUp(p), Adjusted: m.Adjusted},
		RankTrust: RankTrust{LostHits: m.LostHits, Partial: m.Partial, Edges: m.Edges, Warnings: p.Warnings, Executable: executable(p),
			LeftOut: strings.Join(m.LeftOut, ", ")},
	}
	var names []string
	for i := range m.Observations {
		names = append(names, m.Observations[i].Title())
	}
	r.Extrapolated = strings.Join(names, ", ")
	if c := m.Overhead; c != nil && c.Failed == "" {
		r.ProbeCost, r.CostKnown, r.CostLowered = analysis.ProbeCost(p), true, analysis.CostLowered(p)
	}
	if m.MPI != nil {
		r.MPI, r.UsesMPI = *m.MPI, true
	}
	return r
}

// executable returns the program's own file.
func executable(p *profile.Profile) *profile.Object {
	i := slices.IndexFunc(p.Objects, func(o profile.Object) bool { return o.Path == p.Meta.Path })
	if i < 0 {
		return nil
	}
	o := p.Objects[i] // a copy: the profile is not to be kept
	return &o
}

func lifeOf(m *profile.Meta) RankLife {
	return RankLife{Ended: m.Ended, Exit: m.Exit, SnapshotAt: m.SnapshotAt, Start: m.Start,
		End: m.Start.Add(time.Duration(m.Duration + m.TakenOut)), EndedAt: m.EndedAt()}
}

// mpiTimesOf returns the time in MPI of a profile's root. ends are the calls that began and ended
// MPI.
func mpiTimesOf(root *profile.Node, ends *analysis.StartEnd) RankMPI {
	r := RankMPI{StartEnd: ends.T, StartEndCalls: ends.Operations}
	for _, t := range ends.Begin {
		r.InitT = max(r.InitT, t)
	}
	for _, s := range root.Stats {
		if s.MPI != nil {
			r.MPITime += s.MPI.T
			r.MPIWall = max(r.MPIWall, s.MPI.T)
			r.Communicating = max(r.Communicating, s.MPI.T-ends.All[s.Thread])
		}
	}
	return r
}
