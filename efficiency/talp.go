package efficiency

import (
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// TALP holds the times that TALP, the profiler of the library DLB, would tell of a process, ns
// summed over threads (DLB, doc/user_guide/source/talp_metrics.rst). TALP does not know time
// without a core: such time is a part of whatever the thread did when it lost the core.
type TALP struct {
	Useful int64
	MPI    int64
	// LoadImbalance is the time of waiting for other threads of a team: imbalance, limited
	// parallelism, and the waits at barriers and for tasks. DLB's own definition differs. Of each
	// thread's idle time in a region, it takes the part above that of the thread with the least.
	LoadImbalance int64
	// Scheduling is the other time that the runtime takes inside of parallel regions: thread
	// management, and waits for critical sections, locks and the like. DLB's tool counts such waits
	// as useful.
	Scheduling int64
	// Serialization is the time of workers outside of regions, of threads in no team, and of
	// threads of which nothing is known. WorkerIdle is the part of it in which the primary thread
	// is in MPI.
	Serialization, WorkerIdle int64
	Parallels, Tasks          uint64 // executions of outermost and inner regions; tasks created
}

// talpOf returns TALP's times of a profile that a blind walker has walked.
func talpOf(w *walker) TALP {
	p := &w.Parts
	t := TALP{
		Useful: p.Useful() + p[SerialWait], MPI: p[MPI] + p[SerialMPI],
		LoadImbalance: p[Imbal] + p[Limpar] + w.barriers, Scheduling: p[Synch] - w.barriers + p[Mgmt],
		Serialization: p[SerialIdle] + p[MPIIdle] + p[TeamIdle] + p[Unknown], WorkerIdle: p[MPIIdle], Tasks: w.tasks,
	}
	for i := range w.regions {
		t.Parallels += w.regions[i].Starts
	}
	return t
}

// Sum returns the time of all threads.
func (t *TALP) Sum() int64 {
	return t.Useful + t.MPI + t.LoadImbalance + t.Scheduling + t.Serialization
}

// blind returns a copy of the profile without the time without a core, as if this time were not
// known.
func blind(p *profile.Profile) *profile.Profile {
	b := *p
	b.Nodes = slices.Clone(p.Nodes)
	for i := range b.Nodes {
		b.Nodes[i].Stats = slices.Clone(b.Nodes[i].Stats)
		for j := range b.Nodes[i].Stats {
			s := &b.Nodes[i].Stats[j]
			s.NoCore, s.MPI, s.Calls = nil, blindCalls(s.MPI), blindCalls(s.Calls)
		}
	}
	return &b
}

func blindCalls(m *profile.MPIStats) *profile.MPIStats {
	if m == nil {
		return nil
	}
	b := *m
	b.NoCore, b.WaitNoCore = 0, 0
	return &b
}

// TALPMetrics are TALP's metrics of a job by its model hybrid-v2. In this model, the parallel
// efficiency is not the product of the efficiencies of MPI and OpenMP. 0 stands for a metric
// without time.
type TALPMetrics struct {
	CPUs, Ranks, Nodes int
	Elapsed            int64
	TALP
	Calls                                     uint64
	ParallelEfficiency                        float64
	MPIParallel, MPICommunication, MPIBalance float64
	MPIBalanceIn, MPIBalanceOut               float64
	OMPParallel, OMPBalance                   float64
	OMPScheduling, OMPSerialization           float64
}

// TALP returns TALP's metrics of the run.
func (r *Run) TALP() TALPMetrics {
	m := TALPMetrics{Elapsed: r.Runtime, Ranks: len(r.Processes)}
	type node struct {
		mpi  int64
		cpus int
	}
	nodes := map[string]node{}
	least := -1.0 // the least MPI time per CPU of all processes
	for i := range r.Processes {
		p := &r.Processes[i]
		t := &p.TALP
		m.CPUs += p.Threads
		m.Useful += t.Useful
		m.MPI += t.MPI
		m.LoadImbalance += t.LoadImbalance
		m.Scheduling += t.Scheduling
		m.Serialization += t.Serialization
		m.WorkerIdle += t.WorkerIdle
		m.Parallels += t.Parallels
		m.Tasks += t.Tasks
		m.Calls += p.Calls
		n := nodes[p.Host]
		nodes[p.Host] = node{n.mpi + t.MPI + t.WorkerIdle, n.cpus + p.Threads}
		if each := float64(t.MPI+t.WorkerIdle) / float64(p.Threads); least < 0 || each < least {
			least = each
		}
	}
	m.Nodes = len(nodes)
	leastNode := -1.0
	for _, n := range nodes {
		if each := float64(n.mpi) / float64(n.cpus); leastNode < 0 || each < leastNode {
			leastNode = each
		}
	}
	elapsed := float64(r.Runtime)
	outside := elapsed - float64(m.MPI+m.WorkerIdle)/float64(m.CPUs) // of MPI, mean over CPUs
	m.ParallelEfficiency = analysis.Ratio(m.Useful, m.Sum())
	m.MPIParallel = quotient(outside, elapsed)
	m.MPICommunication = quotient(elapsed-least, elapsed)
	m.MPIBalance = quotient(outside, elapsed-least)
	m.MPIBalanceIn = quotient(elapsed-leastNode, elapsed-least)
	m.MPIBalanceOut = quotient(outside, elapsed-leastNode)
	active := m.Useful + m.MPI
	m.OMPParallel = analysis.Ratio(active, m.Sum())
	m.OMPSerialization = analysis.Ratio(active, active+m.Serialization)
	m.OMPBalance = analysis.Ratio(active+m.Serialization, active+m.Serialization+m.LoadImbalance)
	m.OMPScheduling = analysis.Ratio(active+m.Serialization+m.LoadImbalance, m.Sum())
	return m
}

// quotient returns part/whole, and 0 if the whole is 0.
func quotient(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
