package compare

import (
	"slices"

	"ompp-attach/job"
)

// Figure names a figure of a region: one of package job's, or one below. A run's figure is the sum
// over its ranks; of figures that hold for one thread or rank, it is the greatest.
type Figure int

// Figures that package job does not have, and short names for some that it has.
const (
	// OwnT is the region's own time, summed over threads: without the regions inside it.
	OwnT = Figure(job.NumFigures)
	// OwnWorkT is the part of OwnT in no class of overhead. Neither waiting nor a lack of cores
	// is in it, so it tells a change from noise on a machine that others use, too.
	OwnWorkT   = OwnT + 1
	NumFigures = OwnT + 2
	InclusiveT = Figure(job.ExecT)
	Executions = Figure(job.ExecC)
)

// String returns the figure's name in JSON.
func (f Figure) String() string {
	switch f {
	case OwnT:
		return "ownT"
	case OwnWorkT:
		return "ownWorkT"
	}
	return job.Figure(f).String()
}

// Unit returns ns, count or bytes.
func (f Figure) Unit() string {
	if f >= OwnT {
		return "ns"
	}
	return job.Figure(f).Unit()
}

// greatest are the figures that are no sums over ranks.
var greatest = []job.Figure{job.WallT, job.NoCoreWallT, job.WithinT, job.ThreadT}

// figuresOf returns the figures of the regions of a run, in their order.
func figuresOf(j *job.Job) [][NumFigures]float64 {
	out := make([][NumFigures]float64, len(j.Regions))
	for i, g := range j.Regions {
		for f := range job.NumFigures {
			s := g.Stats(f)
			out[i][f] = s.Total()
			if slices.Contains(greatest, f) {
				out[i][f] = float64(s.Max)
			}
		}
	}
	if j.Paths != nil {
		for i := range j.Paths.Samples {
			s := &j.Paths.Samples[i]
			if r := j.Paths.Nodes[s.Node].Region; r >= 0 {
				out[r][OwnT] += float64(s.Values[job.SelfT])
			}
		}
	}
	for i := range out {
		out[i][OwnWorkT] = max(0, out[i][OwnT]-out[i][job.Overhead])
	}
	return out
}

// serialTime returns the time of initial threads outside of all regions.
func serialTime(j *job.Job) (t float64) {
	if j.Paths != nil {
		for i := range j.Paths.Samples {
			if s := &j.Paths.Samples[i]; j.Paths.Nodes[s.Node].Region < 0 {
				t += float64(s.Values[job.SelfT])
			}
		}
	}
	return t
}

func threadTime(j *job.Job) int64 { return sum(j, func(r *job.Rank) int64 { return r.ThreadTime }) }

func sum(j *job.Job, of func(*job.Rank) int64) (all int64) {
	for i := range j.Ranks {
		all += of(&j.Ranks[i])
	}
	return all
}

// The quantities that are tested.
const (
	wallTime   = "wall"
	serialName = "serial"
)

// quantity says how a quantity of a run comes about.
type quantity struct {
	name, unit string
	of         func(*job.Job) float64
}

// ofRanks is a quantity that is a sum over ranks.
func ofRanks(name, unit string, of func(*job.Rank) int64) quantity {
	return quantity{name, unit, func(j *job.Job) float64 { return float64(sum(j, of)) }}
}

// quantitiesOf lists the quantities of whole runs. Wall is the longest of all ranks; the other
// times are sums over threads.
func (o *Options) quantitiesOf() []quantity {
	out, in, both := job.Volumes(o.Volumes)
	calls := func(f job.Figure) func(*job.Rank) int64 { return func(r *job.Rank) int64 { return r.Calls[f] } }
	return []quantity{
		{wallTime, "ns", func(j *job.Job) float64 {
			s := j.RankStats(func(r *job.Rank) int64 { return r.Wall })
			return float64(s.Max)
		}},
		ofRanks("threads", "ns", func(r *job.Rank) int64 { return r.ThreadTime }),
		ofRanks("cpu", "ns", func(r *job.Rank) int64 { return r.User + r.System }),
		{serialName, "ns", serialTime},
		ofRanks("work", "ns", func(r *job.Rank) int64 { return r.Work }),
		ofRanks("idle", "ns", func(r *job.Rank) int64 { return r.Idle }),
		ofRanks("synch", "ns", func(r *job.Rank) int64 { return r.Overheads.Synch }),
		ofRanks("imbal", "ns", func(r *job.Rank) int64 { return r.Overheads.Imbal }),
		ofRanks("limpar", "ns", func(r *job.Rank) int64 { return r.Overheads.Limpar }),
		ofRanks("mgmt", "ns", func(r *job.Rank) int64 { return r.Overheads.Mgmt }),
		ofRanks("mpi", "ns", func(r *job.Rank) int64 { return r.Overheads.MPI }),
		ofRanks("no_core", "ns", func(r *job.Rank) int64 { return r.Overheads.NoCore }),
		ofRanks("overhead", "ns", func(r *job.Rank) int64 { return r.Overheads.Sum() }),
		ofRanks("calls", "count", calls(job.Calls)),
		ofRanks("bytes", "bytes", calls(both)),
		ofRanks("sent", "bytes", calls(out)),
		ofRanks("received", "bytes", calls(in)),
	}
}

func quantities(c *Comparison) (all []Quantity) {
	for _, q := range c.quantitiesOf() {
		var v values
		for side, runs := range c.Sides {
			for _, run := range runs {
				v[side] = append(v[side], q.of(run.Job))
			}
		}
		all = append(all, Quantity{Name: q.name, Unit: q.unit, Change: v.change(c.Alpha)})
	}
	return all
}

// Parts are the figures whose sum is a region's own time.
var Parts = []Figure{OwnWorkT, Figure(job.Synch), Figure(job.Imbal), Figure(job.Limpar), Figure(job.Mgmt), Figure(job.MPIOver), Figure(job.NoCore)}
