package efficiency

import "ompp-attach/analysis"

// Part is a part of the time of a run's threads. The parts do not overlap, and their sum is the
// whole: processes' wall times times threads.
type Part int

// The parts. Those of threads in parallel regions come first, then those of initial threads outside
// of them, then those of threads in no region.
const (
	Work  Part = iota // in a parallel region, in none of the following
	Synch             // analysis.Classes has these
	Imbal
	Limpar
	Mgmt
	MPI
	NoCore     // ready to run without a core, in regions or outside
	Serial     // of an initial thread outside of parallel regions, in no other part
	SerialMPI  // MPI there, without the start and end of MPI
	SerialWait // waiting for locks and the like there
	SerialIdle // of the other threads, while the initial thread computes outside of regions
	MPIIdle    // of the other threads, while the initial thread is in MPI outside of regions
	TeamIdle   // of threads that were in no team while a region ran
	// Of threads that were in a region when measurement began, and have told nothing since.
	Unknown
	Ended // the process had ended, or not begun, while another one of the job ran
	NumParts
)

var partNames = [NumParts]struct{ key, text string }{
	{"work", "work in parallel regions"},
	{"synch", "synchronisation"},
	{"imbal", "imbalance"},
	{"limpar", "limited parallelism"},
	{"mgmt", "thread management"},
	{"mpi", "MPI in parallel regions"},
	{"no_core", "no core"},
	{"serial", "work outside of parallel regions"},
	{"serial_mpi", "MPI outside of parallel regions"},
	{"serial_wait", "OpenMP waits outside of parallel regions"},
	{"serial_idle", "serial idle: other threads meanwhile"},
	{"mpi_idle", "MPI idle: other threads while the primary thread is in MPI"},
	{"team_idle", "team idle: threads in no team"},
	{"unknown", "not known: regions under way when measurement began"},
	{"ended", "other ranks ran longer"},
}

// Key returns the part's name in JSON and CSV.
func (p Part) Key() string { return partNames[p].key }

// String returns the part's name in text.
func (p Part) String() string { return partNames[p].text }

// Useful says whether threads do the program's own work in this part.
func (p Part) Useful() bool { return p == Work || p == Serial }

// Parts are times by Part, ns summed over threads.
type Parts [NumParts]int64

// Add adds other times.
func (p *Parts) Add(o *Parts) {
	for i := range p {
		p[i] += o[i]
	}
}

// Sum returns the whole.
func (p *Parts) Sum() (sum int64) {
	for _, t := range p {
		sum += t
	}
	return sum
}

// Useful returns the time of the program's own work.
func (p *Parts) Useful() int64 { return p[Work] + p[Serial] }

// Share returns a part of the whole, 0 to 1.
func (p *Parts) Share(of Part) float64 { return analysis.Ratio(p[of], p.Sum()) }

// Efficiency returns e_mt by Eq. 4, with the useful time in place of t_serial. So e_mt is the
// useful share of the whole. This supposes that work does not grow with the threads.
func (p *Parts) Efficiency() float64 { return analysis.Ratio(p.Useful(), p.Sum()) }

// charge adds the overhead of a parallel region.
func (p *Parts) charge(c *analysis.Classes) {
	p[Synch] += c.Synch
	p[Imbal] += c.Imbal
	p[Limpar] += c.Limpar
	p[Mgmt] += c.Mgmt
	p[MPI] += c.MPI
	p[NoCore] += c.NoCore
}

// chargeSerial adds the overhead of code outside of parallel regions.
func (p *Parts) chargeSerial(c *analysis.Classes) {
	p[SerialWait] += c.Synch + c.Imbal + c.Limpar + c.Mgmt
	p[SerialMPI] += c.MPI
	p[NoCore] += c.NoCore
}

// takeOut takes a time out of parts: as much as the first part has, then of the second, and so on.
func (p *Parts) takeOut(t int64, from ...Part) {
	for _, f := range from {
		cut := max(0, min(t, p[f]))
		p[f] -= cut
		t -= cut
	}
}
