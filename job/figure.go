package job

import (
	"math"

	"ompp-attach/analysis"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Figure names a figure of one rank in a region. It is a sum over all paths and threads, unless its
// description says otherwise.
type Figure int

// The figures, times in nanoseconds.
const (
	ExecT  Figure = iota // whole construct
	WallT                // of the thread that was in the region for longest
	EnterT               // waiting to get in, or startup of a team
	BodyT
	BarrierT
	ExitT
	// The parts of ExecT, in which ranks can differ.
	WorkT // ExecT without the other parts, of each thread at least 0
	WaitT // overheads except MPI and management, including those of inner regions
	// The parts of WaitT by class.
	SynchT
	ImbalT
	LimparT
	MPIT  // in MPI calls, including those of inner regions
	MgmtT // management, including that of inner regions
	// NoCoreT is the time in which threads were ready to run and had no core, including that in
	// inner regions. It is in none of the other parts.
	NoCoreT
	NoCoreWallT // of the thread that was without a core for longest
	// WithinT is the WorkT of the slowest thread, less the mean over the rank's threads. The team
	// waits for its slowest thread for so long.
	WithinT
	// ThreadT is the mean WorkT of a thread.
	ThreadT
	// The region's own overhead, by class, without the regions inside it.
	Synch
	Imbal
	Limpar
	Mgmt
	MPIOver
	NoCore
	Overhead // the sum of the classes
	ExecC    // executions, summed over threads
	BodyC
	Calls // number of MPI calls
	Sends
	Recvs
	Colls
	OutMinimal
	InMinimal
	OutNaive
	InNaive
	BytesMinimal // bytes sent, received, read and written
	BytesNaive
	FileRead // bytes read by MPI-IO
	FileWritten
	Sized   // number of calls that the volumes above count
	Unknown // number of calls whose volume is not known
	NumFigures
)

var figures = [NumFigures]struct{ name, unit string }{
	{"execT", "ns"}, {"wallT", "ns"}, {"enterT", "ns"}, {"bodyT", "ns"}, {"exitBarT", "ns"}, {"exitT", "ns"},
	{"workT", "ns"}, {"waitT", "ns"}, {"synchT", "ns"}, {"imbalT", "ns"}, {"limparT", "ns"}, {"mpiT", "ns"}, {"mgmtT", "ns"}, {"noCoreT", "ns"}, {"noCoreWallT", "ns"}, {"withinT", "ns"}, {"threadT", "ns"},
	{"synch", "ns"}, {"imbal", "ns"}, {"limpar", "ns"}, {"mgmt", "ns"}, {"mpi", "ns"}, {"noCore", "ns"}, {"overhead", "ns"},
	{"execC", "count"}, {"bodyC", "count"}, {"calls", "count"}, {"sendC", "count"}, {"recvC", "count"}, {"collC", "count"},
	{"outV_minimal", "bytes"}, {"inV_minimal", "bytes"}, {"outV_naive", "bytes"}, {"inV_naive", "bytes"},
	{"bytes_minimal", "bytes"}, {"bytes_naive", "bytes"},
	{"readV", "bytes"}, {"writtenV", "bytes"}, {"sizedC", "count"}, {"unknownC", "count"},
}

// String returns the figure's name in JSON and CSV.
func (f Figure) String() string { return figures[f].name }

// Unit returns ns, count or bytes.
func (f Figure) Unit() string { return figures[f].unit }

// Volumes returns the figures for the bytes sent, the bytes received, and all bytes, in the given
// accounting.
func Volumes(by mpi.Accounting) (out, in, both Figure) {
	if by == mpi.Naive {
		return OutNaive, InNaive, BytesNaive
	}
	return OutMinimal, InMinimal, BytesMinimal
}

// Figures are the figures of one rank in a region.
type Figures [NumFigures]int64

// count converts a counter to a figure.
func count(v uint64) int64 { return int64(min(v, math.MaxInt64)) }

// ofBlock fills in the figures of a region's flat profile. of holds the time of each thread by
// class.
func (f *Figures) ofBlock(b *analysis.Block, of map[int]spent) {
	s := &b.Sum
	f[ExecT], f[EnterT], f[BodyT], f[BarrierT], f[ExitT] = s.Exec.T, s.Enter.T, s.Body.T, s.Barrier.T, s.Exit.T
	f[ExecC], f[BodyC] = count(s.Exec.C), count(s.Body.C)
	f.addMPI(s.MPI)
	var longest int64
	for i := range b.Rows {
		r := &b.Rows[i]
		f[WallT] = max(f[WallT], r.Exec.T)
		work := r.Exec.T
		if o, ok := of[r.Thread]; ok {
			f[WaitT] += o.wait()
			f[SynchT] += o.synch
			f[ImbalT] += o.imbal
			f[LimparT] += o.limpar
			f[MgmtT] += o.mgmt
			f[NoCoreT] += o.noCore
			f[NoCoreWallT] = max(f[NoCoreWallT], o.noCore)
			work -= o.wait() + o.mgmt + o.noCore
		}
		if r.MPI != nil {
			work -= r.MPI.T - r.MPI.NoCore
			f[MPIT] -= r.MPI.NoCore
		}
		// The probes' time that is taken out of a region is limited by its time without a core. So
		// the parts may be longer than the region, by less than the probes' time.
		work = max(0, work)
		f[WorkT] += work
		longest = max(longest, work)
	}
	if n := int64(len(b.Rows)); n > 0 {
		f[ThreadT] = f[WorkT] / n
		f[WithinT] = longest - f[ThreadT]
	}
}

func (f *Figures) addMPI(m *profile.MPIStats) {
	if m == nil {
		return
	}
	f[MPIT] += m.T
	for _, c := range []struct {
		to Figure
		v  uint64
	}{
		{Calls, m.Calls}, {Sends, m.Sends}, {Recvs, m.Recvs}, {Colls, m.Colls},
		{OutMinimal, m.Out[mpi.Minimal]}, {InMinimal, m.In[mpi.Minimal]},
		{OutNaive, m.Out[mpi.Naive]}, {InNaive, m.In[mpi.Naive]},
		{BytesMinimal, m.Out[mpi.Minimal] + m.In[mpi.Minimal] + m.Read + m.Written},
		{BytesNaive, m.Out[mpi.Naive] + m.In[mpi.Naive] + m.Read + m.Written},
		{FileRead, m.Read}, {FileWritten, m.Written}, {Sized, m.Sized}, {Unknown, m.Unknown},
	} {
		f[c.to] = count(uint64(f[c.to]) + min(c.v, math.MaxInt64))
	}
}

// add adds the figures of another region of the rank that is the same region of the job. WallT,
// WithinT and NoCoreWallT are of different executions, so the larger value counts.
func (f *Figures) add(g *Figures) {
	sum := *f
	for i := range f {
		sum[i] += g[i]
	}
	for _, i := range [...]Figure{WallT, WithinT, NoCoreWallT} {
		sum[i] = max(f[i], g[i])
	}
	*f = sum
}

// addClasses adds the overheads of a node.
func (f *Figures) addClasses(c analysis.Classes) {
	f[Synch] += c.Synch
	f[Imbal] += c.Imbal
	f[Limpar] += c.Limpar
	f[Mgmt] += c.Mgmt
	f[MPIOver] += c.MPI
	f[NoCore] += c.NoCore
	f[Overhead] += c.Sum()
}
