package model

import (
	"math"
	"slices"
)

// Measured is a run on so many ranks with so many threads each. Times are the mean of the
// ranks, in one unit. Time is Serial + (Work + Unparallel (Threads-1) + Uneven) / Threads +
// Overhead + MPI. This leaves out threads that lack a core, and ranks that wait.
type Measured struct {
	Ranks   int     `json:"ranks"`
	Threads int     `json:"threads"`  // of each rank; 0: the ranks differ
	Time    float64 `json:"time_s"`   // wall time of the run
	Serial  float64 `json:"serial_s"` // wall time of work outside of parallel regions
	Work    float64 `json:"work_s"`   // thread time of work in them
	// The part of Work that one thread does while the others wait for it.
	Unparallel float64 `json:"unparallel_s"`
	// Thread time of waiting for others that had more work, and for locks.
	Uneven   float64 `json:"uneven_s"`
	Overhead float64 `json:"overhead_s"` // wall time of the runtime's own work
	// Wall time in MPI; in parallel regions, that of the mean thread.
	MPI float64 `json:"mpi_s"`
	// Communication is the run's sum of Eq. 1, over all ranks and threads; nil: an older version
	// wrote the point.
	Communication *float64 `json:"communication_s,omitempty"`
}

// Sound says whether a run can have had these figures.
func (p *Measured) Sound() bool {
	times := []float64{p.Time, p.Serial, p.Work, p.Unparallel, p.Uneven, p.Overhead, p.MPI}
	if p.Communication != nil {
		times = append(times, *p.Communication)
	}
	for _, t := range times {
		if !(t >= 0) || math.IsInf(t, 0) {
			return false
		}
	}
	return p.Ranks > 0 && p.Threads >= 0 && p.Time > 0
}

// explained returns the time that the parts of a run make on so many CPUs. Threads that wait in MPI
// need none.
func (p *Measured) explained(cpus int) float64 {
	n := float64(p.Threads)
	parallel := (p.Work+p.Unparallel*(n-1)+p.Uneven)/n + p.Overhead
	return p.Serial*crowding(p.Ranks, cpus) + parallel*crowding(p.Ranks*p.Threads, cpus) + p.MPI
}

// crowding returns by how much longer threads take that share CPUs, if all want to run. 0 CPUs are
// enough for all.
func crowding(threads, cpus int) float64 {
	if cpus == 0 {
		return 1
	}
	return max(1, float64(threads)/float64(cpus))
}

// Prediction foretells the time of runs by Eq. 3, with what the paper's compiler provides taken
// from measured runs:
//
//	T(p, n) = (S(p) X(p) + ((w(p) g(n) q - U) / n + U + i(n) w / n + O(p, n)) X(p n) + M(p, n)) R
//
// S and w are fitted over p. g is the growth of the work with threads, i the uneven part: measured
// at some n, linear between, constant beyond. U is a constant part of the work. q is the number of
// threads if the problem grows with them, otherwise 1. O and M come from a supplier of costs. X is
// the number of threads over that of CPUs, at least 1.
type Prediction struct {
	Serial, Work   Power
	Growth, Uneven Steps
	Unparallel     float64 // part of the work
	// R: measured time over what its parts make, with CPUs shared by all threads.
	Beyond float64
	Costs  Costs

	callers Steps // a run's Communication over MPI of its ranks; empty: not known
	points  []Measured
	options Options
	again   *Prediction // its choices are kept; nil: they are made anew
	forms   []form      // what the choices were made from
	spread  *spread     // see interval.go; nil: not yet known
}

// Options say what to predict.
type Options struct {
	Weak bool // the problem grows with the threads of all ranks; otherwise it is the same
	// CPUs are those of the machine that is predicted, LearntCPUs those of the runs' machine; 0:
	// as many as there are threads.
	CPUs, LearntCPUs int
	Supplier         Supplier // nil: RecordedCosts
}

// Predict learns from measured runs, at least one.
func Predict(points []Measured, o Options) *Prediction {
	if o.Supplier == nil {
		o.Supplier = RecordedCosts
	}
	m := &Prediction{points: points, options: o}
	m.learn()
	return m
}

// relearn learns from other times of the same runs, with the choices that m made.
func (m *Prediction) relearn(points []Measured) *Prediction {
	x := &Prediction{points: points, options: m.options, again: m}
	x.learn()
	return x
}

func (m *Prediction) learn() {
	work := m.learnGrowth()
	m.learnThreads()
	var ranks, serial []float64
	var measured, explained float64
	for _, p := range m.points {
		ranks, serial = append(ranks, float64(p.Ranks)), append(serial, p.Serial)
		measured += m.beyond(&p)
		if m.beyond(&p) > 0 {
			explained++
		}
	}
	m.Beyond = 1
	if explained > 0 {
		m.Beyond = measured / explained
	}
	if m.again != nil {
		m.Serial, m.Work = m.again.Serial.Again(ranks, serial), m.again.Work.Again(ranks, work)
		m.Costs = m.again.Costs.Again(m.points)
		return
	}
	share := 1.0 // of the work, a rank has a part
	if m.options.Weak {
		share = 0
	}
	m.Serial, m.Work = Fit(ranks, serial, 0), Fit(ranks, work, share)
	m.Costs = m.options.Supplier(m.points)
	for _, f := range Forms(ranks, serial) {
		x := *m
		x.Serial = f.Power
		m.forms = append(m.forms, form{&x, f.Weight})
	}
	for _, f := range Forms(ranks, work) {
		x := *m
		x.Work = f.Power
		m.forms = append(m.forms, form{&x, f.Weight})
	}
	for _, f := range m.Costs.Forms() {
		x := *m
		x.Costs = f.Costs
		m.forms = append(m.forms, form{&x, f.Weight})
	}
}

// form is the prediction with one other choice, and how likely that is the right one.
type form struct {
	*Prediction
	weight float64
}

// beyond returns what a run's time has beyond its parts, as a factor.
func (m *Prediction) beyond(p *Measured) float64 {
	return ratio(p.Time, p.explained(m.options.LearntCPUs))
}

// size returns by how much a rank's part of the problem grew with its threads.
func (m *Prediction) size(threads int) float64 {
	if m.options.Weak {
		return float64(threads)
	}
	return 1
}

// learnGrowth finds how the work grows with threads. It takes the ratio of runs with different
// numbers of threads on as many ranks. It returns the work by run without that growth. If no two
// numbers of threads share a number of ranks, growth and ranks cannot be told apart. Then the ranks
// are taken for the cause. Runs without work say nothing of its growth: their ratios have no limit.
func (m *Prediction) learnGrowth() []float64 {
	growth, base := map[int]float64{}, map[int]float64{}
	for _, p := range m.points {
		growth[p.Threads] = 1
	}
	worked := slices.DeleteFunc(slices.Clone(m.points), func(p Measured) bool { return p.Work == 0 })
	const rounds, settled = 1000, 1e-12
	for round, change := 0, 1.0; round < rounds && change > settled; round++ {
		byRanks, byThreads := map[int][]float64{}, map[int][]float64{}
		for _, p := range worked {
			byRanks[p.Ranks] = append(byRanks[p.Ranks], p.Work/m.size(p.Threads)/growth[p.Threads])
		}
		for ranks, v := range byRanks {
			base[ranks] = mean(v)
		}
		for _, p := range worked {
			byThreads[p.Threads] = append(byThreads[p.Threads], p.Work/m.size(p.Threads)/base[p.Ranks])
		}
		s := stepsOf(byThreads)
		change = 0
		for _, x := range s {
			if g := ratio(x.Value, s[0].Value); g > 0 {
				change = max(change, math.Abs(g-growth[x.At]))
				growth[x.At] = g
			}
		}
	}
	known := map[int][]float64{}
	for n, g := range growth {
		known[n] = []float64{g}
	}
	m.Growth = stepsOf(known)
	work := make([]float64, len(m.points))
	for i, p := range m.points {
		work[i] = p.Work / m.size(p.Threads) / growth[p.Threads]
	}
	return work
}

// learnThreads finds what else depends on the threads: means of the runs with as many threads.
func (m *Prediction) learnThreads() {
	uneven, callers := map[int][]float64{}, map[int][]float64{}
	var single []float64
	for _, p := range m.points {
		if p.Communication != nil && p.Ranks > 1 && p.MPI > 0 {
			callers[p.Threads] = append(callers[p.Threads], *p.Communication/(p.MPI*float64(p.Ranks)))
		}
		uneven[p.Threads] = append(uneven[p.Threads], ratio(p.Uneven, p.Work))
		if p.Threads > 1 {
			single = append(single, ratio(p.Unparallel, p.Work))
		}
	}
	if uneven[1] == nil {
		uneven[1] = []float64{0}
	}
	m.Uneven, m.Unparallel, m.callers = stepsOf(uneven), mean(single), stepsOf(callers)
}

// Parts are the predicted parts of a run's wall time.
type Parts struct {
	Serial     float64
	Work       float64 // a thread's share of the work
	Unparallel float64 // what the work of one thread alone adds to that
	Uneven     float64
	Overhead   float64
	MPI        float64
	// Crowded is what the former take longer because there are more threads than CPUs.
	Crowded float64
	// Beyond is the time that none of these explain: cores that others take, ranks that wait.
	Beyond float64
	// Thread is the thread time of the work: t_serial of Eq. 5.
	Thread float64
	// Below names the parts whose fit falls below 0 here; these are taken for 0.
	Below []string
	// costs are the supplier's standard errors.
	overheadError, mpiError float64
}

// Time returns the sum.
func (p *Parts) Time() float64 {
	return p.Serial + p.Work + p.Unparallel + p.Uneven + p.Overhead + p.MPI + p.Crowded + p.Beyond
}

// At returns the predicted run.
func (m *Prediction) At(ranks, threads int) Parts {
	var out Parts
	none := func(what string, t float64) float64 {
		if t < 0 {
			out.Below = append(out.Below, what)
			return 0
		}
		return t
	}
	p, n := float64(ranks), float64(threads)
	out.Serial = none("serial work", m.Serial.At(p))
	out.Thread = none("parallel work", m.Work.At(p)) * m.Growth.Value(threads) * m.size(threads)
	out.Work = out.Thread / n
	out.Unparallel = m.Unparallel * out.Thread * (n - 1) / n
	out.Uneven = m.Uneven.Value(threads) * out.Thread / n
	overhead, mpi := m.Costs.Overhead(ranks, threads), m.Costs.MPI(ranks, threads)
	out.Overhead, out.MPI = none("overhead", overhead.Time), none("MPI", mpi.Time)
	out.overheadError, out.mpiError = overhead.Error, mpi.Error
	out.Crowded = out.Serial*(crowding(ranks, m.options.CPUs)-1) +
		(out.Work+out.Unparallel+out.Uneven+out.Overhead)*(crowding(ranks*threads, m.options.CPUs)-1)
	out.Beyond = out.Time() * (m.Beyond - 1)
	return out
}

// Time returns the predicted time.
func (m *Prediction) Time(ranks, threads int) float64 {
	p := m.At(ranks, threads)
	return p.Time()
}

// Efficiency returns the predicted speed-up over one core by the cores used. With a problem that
// grows with the cores, it is the time on one core over the time.
func (m *Prediction) Efficiency(ranks, threads int) float64 {
	cores := float64(ranks * threads)
	size := 1.
	if m.options.Weak {
		size = cores
	}
	return ratio(m.Time(1, 1)*size, m.Time(ranks, threads)*cores)
}

// Communication returns the two sums of Eq. 1, predicted: of so many ranks and threads, and of as
// many ranks as these have threads together. Threads that communicate at once count as in the runs.
func (m *Prediction) Communication(ranks, threads int) Communication {
	sum := func(ranks, threads int) float64 {
		callers := 1.
		if len(m.callers) > 0 {
			callers = m.callers.Value(threads)
		}
		return m.Costs.MPI(ranks, threads).Time * float64(ranks) * callers
	}
	return Communication{Hybrid: max(0, sum(ranks, threads)), Pure: max(0, sum(ranks*threads, 1))}
}
