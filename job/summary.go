package job

import (
	"path"
	"slices"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/job/spread"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Summary says which ranks hold up the others: where, why, and in which call the others wait. It is
// about the time from the first rank's return from MPI_Init to the end of MPI_Finalize. All ranks
// spend this time inside or outside of MPI. So a rank with less time in MPI takes longer for its
// own part: it has more work there, or had no core. Time in MPI counts with and without a core,
// since a rank that waits needs no core. (The time until MPI_Init depends on the launcher more than
// on the program.)
type Summary struct {
	// InMPI is a rank's wall time in MPI during this time, ns. A rank that leaves MPI_Init later
	// than the first rank counts as in MPI_Init until then. Late is how much later. A rank that
	// failed counts as in MPI until the last rank ends: the others wait meanwhile, if the launcher
	// lets them.
	InMPI, Late spread.Stats
	// Waited: the ranks leave MPI_Init at times so different that others wait for the last one.
	Waited bool
	// Slow are the ranks with a time in MPI that is nearer to the minimum than to the mean, rising.
	// Slow is empty if the ranks are alike.
	Slow []int
	// Excess is by how much the slowest rank's time in MPI is below the mean (ns). The rank takes
	// so much longer for its own part.
	Excess float64
	CPU    spread.Stats // a rank's processor time, ns
	// Where is the region in which the slowest rank exceeds the mean most (index in Job.Regions;
	// -1: there is none). WhereBy is the figure that exceeds the mean.
	Where   int
	WhereBy Figure
	// Function is set if there is no such region: samples found the slowest rank in this function
	// more often than the others. HotT is that rank's time in the function, HotMean the mean of the
	// ranks (ns).
	Function      string
	HotT, HotMean float64
	Why           Why
	// Crowded is the rank that lacked cores, if Why is Crowded; otherwise nil.
	Crowded *Rank
	// Outside: Crowded lacked cores outside of MPI for so long that this explains its own part.
	// Otherwise it did so in the region only.
	Outside bool
	// Waits is the MPI call site at which the ranks wait most (index in Job.Regions; -1: there is
	// none). A rank's wait is its time there beyond that of the rank with the least time.
	Waits int
}

// Why is the finding that fits a slow rank's time.
type Why int

// The reasons.
const (
	OnlyTime      Why = iota // counts and volumes are alike
	MoreWork                 // the rank executes more
	MoreBytes                // the rank exchanges more bytes
	Uneven                   // the rank's threads have uneven work
	LessProcessor            // the rank had less processor time than the others
	Crowded                  // the rank was ready to run, and had no core
)

// String returns the reason's name in JSON.
func (w Why) String() string {
	return [...]string{"time only", "more work", "more bytes", "uneven threads", "not on a processor", "no core"}[w]
}

// The shares from which on a figure explains a time.
const (
	mostOf = 0.5
	// inner: an inner region is named, and not the region around it, if it has this share of the
	// excess.
	inner = 0.7
	// uneven: in a team of two, the region takes some time longer, and the late thread exceeds the
	// mean by half of this time.
	uneven = 0.3
)

// Summary finds the ranks that hold up the job.
func (j *Job) Summary(by mpi.Accounting) Summary {
	inMPI := func(r *Rank) int64 {
		if r.MPIWall == 0 {
			return 0 // the calls of this rank were not measured
		}
		return max(0, r.MPIWall-r.InitT) + r.LateBy + r.GoneFor
	}
	s := Summary{InMPI: j.RankStats(inMPI), Late: j.RankStats(func(r *Rank) int64 { return r.LateBy }), CPU: j.RankStats(rankCPU), Where: -1, Waits: -1}
	wall := j.RankStats(func(r *Rank) int64 { return r.Wall })
	s.Waited = judge(&s.Late, wall.Mean) > Alike
	s.Excess = s.InMPI.Mean - float64(s.InMPI.Min)
	if len(j.Ranks) > 1 && judge(&s.InMPI, wall.Mean) > Alike {
		for i := range j.Ranks {
			if r := &j.Ranks[i]; float64(inMPI(r)) < s.InMPI.Mean-s.Excess/2 {
				s.Slow = append(s.Slow, r.Rank)
			}
		}
		slices.Sort(s.Slow)
		s.where(j)
		s.why(j, by)
	}
	s.waits(j)
	return s
}

// late finds out how much later than the first rank each rank left MPI_Init. This needs one clock.
func late(ranks []Rank) {
	first := int64(0)
	for i := range ranks {
		r := &ranks[i]
		if r.MPI.Left <= 0 || r.Clock != ranks[0].Clock {
			return
		}
		if first == 0 || r.MPI.Left < first {
			first = r.MPI.Left
		}
	}
	for i := range ranks {
		ranks[i].LateBy = ranks[i].MPI.Left - first
	}
}

// gone finds out how long before the last rank's end ranks failed. This needs one clock.
func gone(ranks []Rank) {
	var last time.Time
	for i := range ranks {
		if ranks[i].Clock != ranks[0].Clock {
			return
		}
		if ranks[i].EndedAt.After(last) {
			last = ranks[i].EndedAt
		}
	}
	for i := range ranks {
		if r := &ranks[i]; !r.Well() {
			r.GoneFor = int64(last.Sub(r.EndedAt))
		}
	}
}

func rankCPU(r *Rank) int64 { return r.User + r.System }

func rankHeldUp(r *Rank) int64 { return r.HeldUp }

// Slowest returns the rank with the least time in MPI.
func (s *Summary) Slowest(j *Job) *Rank {
	return j.rank(s.InMPI.MinRank)
}

func (j *Job) rank(number int) *Rank {
	return &j.Ranks[slices.IndexFunc(j.Ranks, func(r Rank) bool { return r.Rank == number })]
}

// where finds the innermost region in which a slow rank takes longer.
func (s *Summary) where(j *Job) {
	type candidate struct {
		number int
		by     Figure
		excess float64
	}
	var all []candidate
	var most float64
	for i, g := range j.Regions {
		if g.Construct == event.MPI {
			continue
		}
		best := candidate{number: i}
		for _, f := range []Figure{WallT, ThreadT} {
			x := g.Stats(f)
			if e := float64(x.Max) - x.Mean; e > best.excess && slices.Contains(s.Slow, x.MaxRank) {
				best.by, best.excess = f, e
			}
		}
		all = append(all, best)
		most = max(most, best.excess)
	}
	if most >= mostOf*s.Excess && most > 0 {
		var least float64
		for _, c := range all {
			exec := j.Regions[c.number].Stats(ExecT)
			if t := exec.Total(); c.excess >= inner*most && (s.Where < 0 || t < least) {
				s.Where, s.WhereBy, least = c.number, c.by, t
			}
		}
		return
	}
	slow := s.Slowest(j)
	for name, t := range slow.Hot {
		var sum int64
		for i := range j.Ranks {
			sum += j.Ranks[i].Hot[name]
		}
		mean := float64(sum) / float64(len(j.Ranks))
		more, than := float64(t)-mean, s.HotT-s.HotMean
		if more > than || more == than && name < s.Function {
			s.Function, s.HotT, s.HotMean = name, float64(t), mean
		}
	}
	if s.HotT-s.HotMean < mostOf*s.Excess/2 { // half of the share, because samples are few
		s.Function = ""
	}
}

func (s *Summary) why(j *Job, by mpi.Accounting) {
	// Ranks that wait in MPI usually stay on their processors, so waiting does not lower their
	// processor time.
	slow := s.Slowest(j)
	if cpu := float64(rankCPU(slow)); cpu < s.CPU.Mean-mostOf*s.Excess && cpu < (1-mostOf/2)*float64(slow.Wall-slow.MPIWall) {
		s.Why = LessProcessor
	}
	if held := j.RankStats(rankHeldUp); slices.Contains(s.Slow, held.MaxRank) &&
		float64(slow.HeldUp)-held.Mean >= mostOf*s.Excess {
		s.Why, s.Crowded, s.Outside = Crowded, slow, true
		return
	}
	if s.Where < 0 {
		return
	}
	g := j.Regions[s.Where]
	if s.crowdedThere(g) {
		s.Why, s.Crowded = Crowded, j.rank(g.Stats(NoCoreWallT).MaxRank)
		return
	}
	more := func(f Figure) bool {
		x := g.Stats(f)
		return x.Variation() >= DiffersCount && slices.Contains(s.Slow, x.MaxRank)
	}
	within, where := g.Stats(WithinT), g.Stats(s.WhereBy)
	_, _, bytes := Volumes(by)
	switch {
	case more(ExecC), more(BodyC):
		s.Why = MoreWork
	case slices.Contains(s.Slow, within.MaxRank) && float64(within.Max)-within.Mean >= uneven*(float64(where.Max)-where.Mean):
		s.Why = Uneven
	case s.Why == LessProcessor:
	case more(bytes):
		s.Why = MoreBytes
	}
}

// crowdedThere tells whether the lack of cores makes up most of the additional time that a region
// takes on slow ranks. The sum over threads would not tell this: ranks that wait in MPI want cores,
// too, but lose nothing without them.
func (s *Summary) crowdedThere(g *Region) bool {
	away, where := g.Stats(NoCoreWallT), g.Stats(WallT)
	return s.WhereBy == WallT && slices.Contains(s.Slow, away.MaxRank) &&
		float64(away.Max)-away.Mean >= mostOf*(float64(where.Max)-where.Mean)
}

// waits finds the call site with the most waiting time. The call itself takes at most as long as on
// the rank with the least time there. The rest of the time is waiting. Calls that cannot wait are
// left out: in them, ranks lack a core.
func (s *Summary) waits(j *Job) {
	var most float64
	for i, g := range j.Regions {
		// The launcher starts ranks at different times.
		if g.Construct != event.MPI || analysis.BeginsMPI(&g.Region) || !callMayWait(g.Name) {
			continue
		}
		t := g.Stats(WallT)
		if w := t.Total() - float64(t.Min)*float64(len(j.Ranks)); w > most && !slices.Contains(s.Slow, t.MaxRank) {
			s.Waits, most = i, w
		}
	}
}

// callMayWait tells whether an MPI call may wait for other ranks. Local calls do not wait. Calls
// that only make a request, such as MPI_Irecv, do not wait, either. Calls without a row in the
// table may wait.
func callMayWait(name string) bool {
	op, ok := mpi.ParseOp(name)
	if !ok {
		return true
	}
	return !op.Info().Local && !op.Info().Immediate()
}

// mostHot bounds the number of functions kept of a rank.
const mostHot = 16

// hotIn returns, by function of the program, the sampled time of a profile's threads outside of MPI
// and of waiting, in ns.
func hotIn(p *profile.Profile) map[string]int64 {
	if p.Meta.Sampling == nil || p.Meta.Sampling.Unit != "ns" {
		return nil
	}
	hot := map[string]int64{}
	for i := range p.Samples {
		x := &p.Samples[i]
		if x.Phase != profile.PhaseBody && x.Phase != "" {
			continue
		}
		if name := programsFunction(p, x.Stack); name != "" {
			hot[name] += int64(x.Weight)
		}
	}
	for len(hot) > mostHot {
		least := ""
		for name, t := range hot {
			if least == "" || t < hot[least] || t == hot[least] && name < least {
				least = name
			}
		}
		delete(hot, least)
	}
	return hot
}

// programsFunction returns the innermost function of a stack that belongs to the program itself. If
// there is no such function, it returns the innermost function.
func programsFunction(p *profile.Profile, stack []int) (name string) {
	for _, at := range stack {
		f := &p.Frames[at]
		if f.Function == "" {
			continue
		}
		if path.Base(f.Object) == path.Base(p.Meta.Path) {
			return f.Function
		}
		if name == "" {
			name = f.Function
		}
	}
	return name
}
