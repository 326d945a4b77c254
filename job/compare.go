package job

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/job/spread"
	"ompp-attach/mpi"
)

// The thresholds by which ranks are judged. They are rules of thumb. Reports state them beside
// every verdict.
const (
	// DiffersStdDev and DiffersRange: ranks differ in a time if the standard deviation of this time
	// is at least DiffersStdDev of a rank's whole time. Below that, single ranks stand out if the
	// range is at least DiffersRange of a rank's whole time.
	DiffersStdDev = 0.02
	DiffersRange  = 0.10
	// DiffersCount: a count or volume differs between ranks if its coefficient of variation is
	// at least this.
	DiffersCount = 0.05
	// Comparable: two times can make up for each other only if the smaller standard deviation is at
	// least this share of the larger one.
	Comparable = 0.25
	// InStep: two figures are in step if their correlation is at least this. MinRanks is the
	// number of ranks below which a correlation says nothing.
	InStep   = 0.8
	MinRanks = 4
)

// Verdict says how alike ranks are.
type Verdict int

// The verdicts, from good to bad.
const (
	Alike Verdict = iota
	Outliers
	Differ
)

// String returns the verdict in a word.
func (v Verdict) String() string { return [...]string{"alike", "outliers", "differ"}[v] }

// judge returns the verdict on a time s of ranks. whole is the whole time of a rank, in the same
// unit.
func judge(s *spread.Stats, whole float64) Verdict {
	switch {
	case whole <= 0:
		return Alike
	case s.StdDev >= DiffersStdDev*whole:
		return Differ
	case s.Range() >= DiffersRange*whole:
		return Outliers
	}
	return Alike
}

// Quantity is the distribution of a time over ranks.
type Quantity struct {
	Name string
	// Whole is the time that the quantity is a part of (ns): mean wall time or, for sums over
	// threads, mean thread time.
	Whole float64
	spread.Stats
	Verdict Verdict
}

// RankStats returns the distribution of a figure over the ranks.
func (j *Job) RankStats(of func(*Rank) int64) spread.Stats {
	m := j.rankMoments(of)
	return m.Over(len(j.Ranks), -1)
}

func (j *Job) rankMoments(of func(*Rank) int64) *spread.Moments {
	var m spread.Moments
	for i := range j.Ranks {
		m.Add(of(&j.Ranks[i]), j.Ranks[i].Rank)
	}
	return &m
}

func (j *Job) rankCorrelation(x, y func(*Rank) int64) Correlation {
	var xy spread.Joint
	for i := range j.Ranks {
		xy.Add(x(&j.Ranks[i]), y(&j.Ranks[i]))
	}
	r, ok := spread.Correlation(len(j.Ranks), &xy, j.rankMoments(x), j.rankMoments(y))
	return Correlation{r, ok && len(j.Ranks) >= MinRanks}
}

// Figures of ranks.
var (
	rankImbal   = func(r *Rank) int64 { return r.Overheads.Imbal }
	rankMPI     = func(r *Rank) int64 { return r.MPITime }
	rankMPIWall = func(r *Rank) int64 { return r.MPIWall }
	// Communication leaves out the start and the end of MPI, which the launcher and the library
	// determine. The rest depends on the ranks.
	rankCommunication = (*Rank).Communication
	rankCommWall      = func(r *Rank) int64 { return r.Communicating }
	rankNoCore        = func(r *Rank) int64 { return r.NoCore }
	rankSum           = func(r *Rank) int64 { return r.Overheads.Sum() }
)

// Quantities returns the times that tell whether ranks behave alike. MPI occurs twice: a thread may
// call MPI while the others have nothing to do (MPI_THREAD_FUNNELED). Then the thread holds up all
// others, even if its time in MPI is a small part of the thread time.
func (j *Job) Quantities() []Quantity {
	wall := j.RankStats(func(r *Rank) int64 { return r.Wall })
	all := j.RankStats(func(r *Rank) int64 { return r.ThreadTime })
	out := []Quantity{
		{Name: "wall", Whole: wall.Mean, Stats: wall},
		{Name: "parallel", Whole: wall.Mean, Stats: j.RankStats(func(r *Rank) int64 { return r.Parallel })},
		{Name: "user", Whole: all.Mean, Stats: j.RankStats(func(r *Rank) int64 { return r.User })},
		{Name: "MPI", Whole: all.Mean, Stats: j.RankStats(rankMPI)},
		{Name: "MPI wall", Whole: wall.Mean, Stats: j.RankStats(rankMPIWall)},
		{Name: "communication", Whole: all.Mean, Stats: j.RankStats(rankCommunication)},
		{Name: "start and end", Whole: all.Mean, Stats: j.RankStats(func(r *Rank) int64 { return r.StartEnd })},
		{Name: "synch", Whole: all.Mean, Stats: j.RankStats(func(r *Rank) int64 { return r.Overheads.Synch })},
		{Name: "imbal", Whole: all.Mean, Stats: j.RankStats(rankImbal)},
		{Name: "limpar", Whole: all.Mean, Stats: j.RankStats(func(r *Rank) int64 { return r.Overheads.Limpar })},
		{Name: "mgmt", Whole: all.Mean, Stats: j.RankStats(func(r *Rank) int64 { return r.Overheads.Mgmt })},
		{Name: "no core", Whole: all.Mean, Stats: j.RankStats(rankNoCore)},
		{Name: "overheads", Whole: all.Mean, Stats: j.RankStats(rankSum)},
	}
	for i := range out {
		out[i].Verdict = judge(&out[i].Stats, out[i].Whole)
	}
	return out
}

// Difference is a region that differs between ranks.
type Difference struct {
	Number  int // index in Job.Regions
	Region  *Region
	By      Figure  // the time that varies most: ExecT or a part of it
	Spread  float64 // standard deviation of By, ns
	Verdict Verdict // relative to mean thread time; for WallT, to mean wall time
}

// Differences returns all regions that vary, the one with the greatest spread first. If a part of a
// region's time has a larger spread than the whole time, the part's spread counts. This happens if
// waiting makes up for work: then ranks leave a region at the same time although they differ.
func (j *Job) Differences() []Difference {
	all := j.RankStats(func(r *Rank) int64 { return r.ThreadTime })
	wall := j.RankStats(func(r *Rank) int64 { return r.Wall })
	var out []Difference
	for i, g := range j.Regions {
		d := Difference{Number: i, Region: g}
		for _, f := range []Figure{ExecT, WorkT, WaitT, MPIT, NoCoreT} {
			if s := g.Stats(f); s.StdDev > d.Spread {
				d.By, d.Spread, d.Verdict = f, s.StdDev, judge(&s, all.Mean)
			}
		}
		if d.Spread > 0 {
			longest := g.Stats(WallT)
			d.Verdict = max(d.Verdict, judge(&longest, wall.Mean))
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b Difference) int { return cmp.Compare(b.Spread, a.Spread) })
	return out
}

// Reading says which other figures vary together with a region's time. This is no proof of a cause:
// figures that vary together may have a third cause in common.
type Reading int

// The readings.
const (
	TooFew   Reading = iota // too few ranks for a correlation
	Trade                   // MPI time and waiting make up for each other
	InMPI                   // time in MPI varies most
	InWait                  // waiting within ranks varies most
	InNoCore                // time without a core varies most
	ByCounts                // work is in step with how often something was executed
	ByVolume                // work is in step with the bytes sent and received
	Loose                   // counts or volumes differ too, but not in step
	TimeOnly                // counts and volumes are alike
)

// String returns the reading's name in JSON and CSV.
func (r Reading) String() string {
	return [...]string{"too few ranks", "trade", "MPI", "waiting", "no core", "counts", "volumes", "loose", "time only"}[r]
}

// Explanation says which parts of a region's time differ, and which other figures vary together
// with them.
type Explanation struct {
	Reading Reading
	// Shares are the shares of the variance of execT that go with each of Parts. Varies is false if
	// the shares have no meaning: either execT does not vary, or some part varies at least twice as
	// much as execT. Level says that the second reason holds.
	Shares        [len(Parts)]float64
	Varies, Level bool
	// Bytes says whether ranks exchange bytes in the region; Unknown says that some volumes are
	// not known.
	Bytes, Unknown bool
	// Between is about ranks: how much more work per thread the rank with most work has than the
	// mean (ns). Within is about threads: how much more work the slowest thread of a rank has than
	// the mean of the rank's threads (ns, mean over ranks).
	Between, Within float64
	// Correlations of WorkT with the numbers of executions and of bodies, and with the bytes.
	WithExecs, WithBodies, WithBytes Correlation
	// Correlations of WorkT and WaitT with a rank's communication, in any region.
	WorkMPI, WaitMPI Correlation
}

// Correlation is a correlation coefficient. It is not known if there are too few ranks, or if one
// of the figures does not vary.
type Correlation struct {
	R     float64
	Known bool
}

// Parts are the figures that add up to ExecT.
var Parts = [5]Figure{WorkT, WaitT, MPIT, MgmtT, NoCoreT}

// Explain says which other figures vary together with a region's times.
func (g *Region) Explain(by mpi.Accounting) Explanation {
	_, _, bytes := Volumes(by)
	thread, within := g.Stats(ThreadT), g.Stats(WithinT)
	e := Explanation{
		Between: float64(thread.Max) - thread.Mean, Within: within.Mean,
		WithExecs: g.correlate(WorkT, ExecC), WithBodies: g.correlate(WorkT, BodyC), WithBytes: g.correlate(WorkT, bytes),
		WorkMPI: g.known(&g.withMPI[0], &g.moments[WorkT], g.mpiTime),
		WaitMPI: g.known(&g.withMPI[1], &g.moments[WaitT], g.mpiTime),
	}
	exec, volume, unknown := g.Stats(ExecT), g.Stats(bytes), g.Stats(Unknown)
	e.Bytes, e.Unknown = volume.Max > 0, unknown.Max > 0
	for i, part := range Parts {
		e.Shares[i], e.Varies = g.share(part)
		if s := g.Stats(part); s.StdDev > 0 && steady(exec.StdDev, s.StdDev, 0) {
			e.Level = true
		}
	}
	e.Varies = e.Varies && !e.Level
	e.Reading = g.read(&e, bytes)
	return e
}

func (g *Region) read(e *Explanation, bytes Figure) Reading {
	work, wait, inMPI, noCore := g.Stats(WorkT), g.Stats(WaitT), g.Stats(MPIT), g.Stats(NoCoreT)
	if noCore.StdDev > max(work.StdDev, wait.StdDev, inMPI.StdDev) {
		return InNoCore
	}
	trade := g.correlate(WaitT, MPIT)
	if trade.Known && makeUp(wait.StdDev, inMPI.StdDev, trade.R) && max(wait.StdDev, inMPI.StdDev) >= work.StdDev {
		return Trade
	}
	switch max(work.StdDev, wait.StdDev, inMPI.StdDev) {
	case work.StdDev: // see the cases below
	case inMPI.StdDev:
		return InMPI
	default:
		return InWait
	}
	if g.n < MinRanks {
		return TooFew
	}
	differs := func(f Figure) bool { s := g.Stats(f); return s.Variation() >= DiffersCount }
	execs, bodies, volume := differs(ExecC), differs(BodyC), differs(bytes)
	switch {
	case execs && e.WithExecs.R >= InStep, bodies && e.WithBodies.R >= InStep:
		return ByCounts
	case volume && math.Abs(e.WithBytes.R) >= InStep:
		return ByVolume
	case execs, bodies, volume:
		return Loose
	}
	return TimeOnly
}

// makeUp tells whether two times make up for each other. x and y are their deviations, r is their
// correlation. The times make up for each other if the deviation of their sum is at most half of
// one of the two deviations.
func makeUp(x, y, r float64) bool {
	sum := math.Sqrt(max(0, x*x+y*y+2*r*x*y))
	return r <= -InStep && steady(sum, x, y)
}

func steady(sum, x, y float64) bool { return sum <= max(x, y)/2 }

// Exchange describes how communication by MPI and imbalance are related over ranks (paper, Fig. 9).
type Exchange struct {
	Imbal, MPI, Sum spread.Stats // each rank's overheads; Sum is the sum of all classes
	ImbalMPI        Correlation  // correlation of Imbal and MPI
	// Trade: the more a rank has of one, the less it has of the other. Both times vary by
	// comparable amounts that matter, and some rank has several threads, which can wait for each
	// other. Steady: the deviation of the sum of all classes is at most half of one of the two
	// deviations.
	Trade, Steady bool
	// WorkMPI is the correlation of communication with the time in no overhead class.
	WorkMPI Correlation
}

// Exchange compares communication with imbalance over the ranks.
func (j *Job) Exchange() Exchange {
	x := Exchange{Imbal: j.RankStats(rankImbal), MPI: j.RankStats(rankCommunication), Sum: j.RankStats(rankSum),
		ImbalMPI: j.rankCorrelation(rankImbal, rankCommunication),
		WorkMPI:  j.rankCorrelation(func(r *Rank) int64 { return r.ThreadTime - r.Overheads.Sum() }, rankCommunication)}
	all := j.RankStats(func(r *Rank) int64 { return r.ThreadTime })
	wall, longest := j.RankStats(func(r *Rank) int64 { return r.Wall }), j.RankStats(rankCommWall)
	threads := j.RankStats(func(r *Rank) int64 { return int64(r.Threads) })
	comparable := min(x.Imbal.StdDev, x.MPI.StdDev) >= Comparable*max(x.Imbal.StdDev, x.MPI.StdDev)
	x.Trade = x.ImbalMPI.Known && x.ImbalMPI.R <= -InStep && threads.Max > 1 && comparable &&
		max(judge(&x.Imbal, all.Mean), judge(&x.MPI, all.Mean), judge(&longest, wall.Mean)) > Alike
	x.Steady = steady(x.Sum.StdDev, x.Imbal.StdDev, x.MPI.StdDev)
	return x
}
