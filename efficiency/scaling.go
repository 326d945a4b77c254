package efficiency

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/model"
)

// Scaling compares runs of a program on different numbers of ranks and threads. Missing ranks are
// supposed to be like the others of their run.
type Scaling struct {
	Runs []Scaled // by rising number of threads in all; the first one is the reference
	Weak bool     // the problem grew with the threads of all ranks; otherwise it was the same
}

// Scaled is a run beside the reference.
type Scaled struct {
	*Run
	Label   string // as the user named the run
	Ranks   int
	PerRank int // threads per rank; 0: ranks differ
	All     int // threads of all ranks; missing ranks count with the mean of the others
	// Speedup is the reference's runtime divided by this run's. Gain is the speed-up divided by the
	// ratio of the numbers of threads (this run's to the reference's). For weak scaling, Gain is
	// the speed-up itself.
	Speedup, Gain float64
	// Efficiencies of POP. Global is Parallel times Computation.
	Global, Parallel, MPI, OpenMP float64
	// Computation is the useful time of the reference divided by that of this run. For weak scaling
	// it is multiplied by the ratio of the numbers of threads (this run's to the reference's).
	Computation float64
	// Factors of Computation; nil: not counted.
	Factors *Factors
	// EMT is e_mt by Eq. 4. Its t_serial is the run of one thread per rank on as many ranks. EMT is
	// nil if there is no such run, or if that run solved a smaller problem (weak scaling). Serial
	// is that run's label.
	EMT    *float64
	Serial string
	// Communication compares the run with one that has as many ranks as this run has threads. It is
	// nil if there is no such run, or if this run has one thread per rank.
	Communication *Comparison
	NoCore        float64 // share of the threads' time without a core
}

// Factors are the factors of the computation scaling. They are estimates: the counts are those of
// all threads in parallel regions, with the runtime's waits. Rest is the remaining factor. It holds
// waits, code outside of regions, and factors that were not counted.
type Factors struct {
	Instructions float64 // instructions of the reference over those of this run
	// IPC is instructions per cycle divided by those of the reference; nil: cycles were not
	// counted.
	IPC *float64
	// Frequency is cycles per time on a processor, divided by the same ratio of the reference. nil:
	// neither ref-cycles nor task-clock were counted with the cycles.
	Frequency *float64
	Rest      float64
}

// Comparison compares the communication of a hybrid run with that of a pure MPI run on as many
// threads (Eq. 1). Sums are over all ranks and threads, Most is of the rank with most, ns.
type Comparison struct {
	model.Communication
	With                   string // label of the pure MPI run
	MostHybrid, MostPure   int64
	MeanHybrid, MeanPure   float64 // of a rank
	CallersHybrid, Callers int     // m_t: the most threads of a rank that call MPI
}

// Compare compares runs. They are sorted by their numbers of threads, then of ranks; runs that are
// alike keep their order. labels are by run.
func Compare(runs []*Run, labels []string, weak bool) *Scaling {
	s := &Scaling{Weak: weak}
	for i, r := range runs {
		x := Scaled{Run: r, Label: labels[i], Ranks: r.Ranks(), All: int(math.Round(r.OfAll(float64(r.Threads()))))}
		x.PerRank = r.Processes[0].Threads
		for j := range r.Processes {
			if r.Processes[j].Threads != x.PerRank {
				x.PerRank = 0
			}
		}
		s.Runs = append(s.Runs, x)
	}
	slices.SortStableFunc(s.Runs, func(a, b Scaled) int { return cmp.Or(cmp.Compare(a.All, b.All), cmp.Compare(a.Ranks, b.Ranks)) })
	for i := range s.Runs {
		s.scale(&s.Runs[i])
	}
	return s
}

func (s *Scaling) scale(x *Scaled) {
	ref := &s.Runs[0]
	whole, first := x.Whole(), ref.Whole()
	more := float64(x.All) / float64(ref.All)
	x.Speedup = analysis.Ratio(ref.Runtime, x.Runtime)
	x.Computation = quotient(ref.OfAll(float64(first.Useful())), x.OfAll(float64(whole.Useful())))
	x.Gain = x.Speedup / more
	if s.Weak {
		x.Gain = x.Speedup
		x.Computation *= more
	}
	x.Parallel, x.MPI, x.OpenMP = x.Run.parallel()
	x.Global = x.Parallel * x.Computation
	x.NoCore = whole.Share(NoCore)
	x.Factors = s.factors(x, more)
	if one := s.find(x.Ranks, 1); one != nil && x.PerRank > 0 && !s.Weak {
		e := model.Multithreading(one.outMPI(), x.PerRank, x.outMPI())
		x.EMT, x.Serial = &e, one.Label
	}
	if pure := s.find(x.All, 1); pure != nil && x.PerRank > 1 {
		x.Communication = compareCommunication(x, pure)
	}
}

// parallel returns POP's parallel efficiencies: of both, of MPI, of OpenMP.
func (r *Run) parallel() (both, mpi, omp float64) {
	t := r.totals()
	both, mpi = quotient(t.useful, t.runtime), quotient(t.outMPI, t.runtime)
	return both, mpi, quotient(both, mpi)
}

// find returns the first run of so many ranks with so many threads each; nil: there is none.
func (s *Scaling) find(ranks, threads int) *Scaled {
	for i := range s.Runs {
		if x := &s.Runs[i]; x.Ranks == ranks && x.PerRank == threads {
			return x
		}
	}
	return nil
}

// outMPI returns the time of all primary threads outside of MPI, ns.
func (x *Scaled) outMPI() (sum float64) {
	for i := range x.Processes {
		sum += float64(x.Processes[i].OutMPI)
	}
	return x.OfAll(sum)
}

// counted returns the sum of a counter over all processes; ok is false if some process has no
// count.
func (r *Run) counted(name string) (sum float64, ok bool) {
	for i := range r.Processes {
		n, known := r.Processes[i].Counters[name]
		if !known {
			return 0, false
		}
		sum += float64(n)
	}
	return r.OfAll(sum), sum > 0
}

func (s *Scaling) factors(x *Scaled, more float64) *Factors {
	ref := &s.Runs[0]
	instructions, known := x.counted("instructions")
	first, alsoKnown := ref.counted("instructions")
	if !known || !alsoKnown {
		return nil
	}
	f := &Factors{Instructions: first / instructions}
	if s.Weak {
		f.Instructions *= more
	}
	product := f.Instructions
	// over returns the ratio of two counts, divided by the reference's ratio; nil: a count is
	// missing.
	over := func(top, bottom string) *float64 {
		a, known := x.counted(top)
		b, alsoKnown := x.counted(bottom)
		refA, refKnown := ref.counted(top)
		refB, refAlsoKnown := ref.counted(bottom)
		if !known || !alsoKnown || !refKnown || !refAlsoKnown {
			return nil
		}
		v := a / b / (refA / refB)
		product *= v
		return &v
	}
	f.IPC = over("instructions", "cycles")
	if f.Frequency = over("cycles", "ref-cycles"); f.Frequency == nil {
		f.Frequency = over("cycles", "task-clock")
	}
	f.Rest = quotient(x.Computation, product)
	return f
}

func compareCommunication(x, pure *Scaled) *Comparison {
	c := &Comparison{With: pure.Label}
	c.Hybrid, c.MeanHybrid, c.MostHybrid, c.CallersHybrid = x.communication()
	c.Pure, c.MeanPure, c.MostPure, c.Callers = pure.communication()
	return c
}

func (r *Run) communication() (sum, mean float64, most int64, callers int) {
	for i := range r.Processes {
		p := &r.Processes[i]
		sum += float64(p.Communication)
		most = max(most, p.Communication)
		callers = max(callers, p.Callers)
	}
	return r.OfAll(sum), sum / float64(len(r.Processes)), most, callers
}

// Key names a region over runs: of one program, a construct has one place.
func (r *Region) Key(label string) string { return r.Construct.String() + " " + label }

// RegionScaling is a parallel region over runs.
type RegionScaling struct {
	Label string // construct and place
	// By run: e_mt by Eq. 4 if the run of one thread per rank on as many ranks has the region.
	// Otherwise e_mt is estimated from the run itself. Absent: the run has not executed the region.
	EMT   []RegionEMT
	Total int64 // thread time over all runs, ns
}

// RegionEMT is e_mt of a region in a run.
type RegionEMT struct {
	Value     float64
	Estimated bool
	Known     bool
}

// Regions returns the parallel regions, those with most time first. label names a region's place.
func (s *Scaling) Regions(label func(*Region) string) (out []RegionScaling) {
	at := map[string]int{}
	figures := make([]map[string]*Region, len(s.Runs))
	for i := range s.Runs {
		figures[i] = map[string]*Region{}
		for j := range s.Runs[i].Regions {
			g := &s.Runs[i].Regions[j]
			if !g.Construct.IsParallel() || g.Team.Sum() == 0 {
				continue
			}
			key := g.Key(label(g))
			if _, ok := at[key]; !ok {
				at[key] = len(out)
				out = append(out, RegionScaling{Label: key, EMT: make([]RegionEMT, len(s.Runs))})
			}
			figures[i][key] = g
			out[at[key]].Total += g.Team.Sum()
		}
	}
	for i := range s.Runs {
		x := &s.Runs[i]
		one := -1
		for j := range s.Runs {
			if s.Runs[j].Ranks == x.Ranks && s.Runs[j].PerRank == 1 {
				one = j
				break
			}
		}
		for key, g := range figures[i] {
			e := RegionEMT{g.Team.Efficiency(), true, true}
			if one >= 0 && figures[one][key] != nil && !s.Weak {
				e = RegionEMT{quotient(s.Runs[one].OfAll(float64(figures[one][key].Team.Sum())), x.OfAll(float64(g.Team.Sum()))), false, true}
			}
			out[at[key]].EMT[i] = e
		}
	}
	slices.SortStableFunc(out, func(a, b RegionScaling) int { return cmp.Compare(b.Total, a.Total) })
	return out
}
