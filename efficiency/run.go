package efficiency

import (
	"math"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// Run is a run of one process or of an MPI job.
type Run struct {
	Program   string
	Processes []Process // at least one, by rising rank
	Regions   []Region  // of all processes
	// Runtime is the wall time of the process that ran longest (see Process.Wall), ns.
	Runtime int64
	Missing int       // number of ranks that are not among Processes
	Ended   time.Time // of the process that ended last
}

// Region is a region of a run.
type Region struct {
	*profile.Region
	Number int // in reports
	Figures
}

// New returns a run of these processes and regions.
func New(program string, processes []Process, regions []Region) *Run {
	r := &Run{Program: program, Processes: processes, Regions: regions}
	for i := range processes {
		r.Runtime = max(r.Runtime, processes[i].Wall)
		if processes[i].Ended.After(r.Ended) {
			r.Ended = processes[i].Ended
		}
	}
	return r
}

// OfProfile returns the run of a single process.
func OfProfile(p *profile.Profile) *Run {
	process, figures := Of(p)
	var named []Region
	for i := range figures {
		named = append(named, Region{&p.Regions[i], i + 1, figures[i]})
	}
	return New(p.Meta.Program, []Process{process}, named)
}

// Ranks returns the number of ranks that the run had, read or not.
func (r *Run) Ranks() int { return len(r.Processes) + r.Missing }

// OfAll scales a sum over the ranks that were read to a sum over all ranks. It supposes that
// missing ranks are like the others.
func (r *Run) OfAll(sum float64) float64 {
	return sum * float64(r.Ranks()) / float64(len(r.Processes))
}

// Threads returns the threads of all processes.
func (r *Run) Threads() (n int) {
	for i := range r.Processes {
		n += r.Processes[i].Threads
	}
	return n
}

// Whole returns the time of all threads by part. The sum of the parts is Runtime times Threads,
// less the time before and after the lives of threads that live for a part of their process's run
// only. The time after the end of a process is Ended.
func (r *Run) Whole() (all Parts) {
	for i := range r.Processes {
		p := &r.Processes[i]
		all.Add(&p.Parts)
		all[Ended] += int64(math.Round(p.living() * float64(max(0, r.Runtime-p.Wall))))
	}
	return all
}

// living returns how many threads lived on average.
func (p *Process) living() float64 {
	if p.Wall == 0 {
		return float64(p.Threads)
	}
	return float64(p.Parts.Sum()) / float64(p.Wall)
}

// Most returns the region that by itself has most of a part, and how much; nil: no region has any
// of the part. For Work it returns the parallel region with most work. For the time of idle threads
// it returns the region in which their initial thread was for most of that time. Of each part but
// Work it returns nil if there is more of the part outside of all regions than in that region.
func (r *Run) Most(of Part) (most *Region, t int64) {
	for i := range r.Regions {
		own := r.Regions[i].Own[of]
		if of == Work {
			own = r.Regions[i].Team[of]
		}
		if own > t {
			most, t = &r.Regions[i], own
		}
	}
	if of != Work {
		whole := r.Whole()
		elsewhere := whole[of]
		for i := range r.Regions {
			elsewhere -= r.Regions[i].Own[of]
		}
		if elsewhere > t {
			return nil, 0
		}
	}
	return most, t
}

// any says whether a process has a property.
func (r *Run) any(has func(*Process) bool) bool {
	for i := range r.Processes {
		if has(&r.Processes[i]) {
			return true
		}
	}
	return false
}

// UsesMPI says whether a process used MPI.
func (r *Run) UsesMPI() bool { return r.any(func(p *Process) bool { return p.UsesMPI }) }

// StartsEnds says whether MPI was started or ended meanwhile. This time is in no figure.
func (r *Run) StartsEnds() bool { return r.any(func(p *Process) bool { return p.StartEnd > 0 }) }

// Nested says whether a process started parallel regions in others.
func (r *Run) Nested() bool { return r.any(func(p *Process) bool { return p.Nested }) }

// Excess compares the sum of a process's parts with the life time of its threads. It returns the
// relative difference, of the process in which this is largest; 0: the parts add up. The parts do
// not add up if a part is shorter than the time that has to be taken out of it.
func (r *Run) Excess() (most float64) {
	for i := range r.Processes {
		p := &r.Processes[i]
		if p.Lived <= 0 {
			continue
		}
		if x := float64(p.Parts.Sum())/float64(p.Lived) - 1; math.Abs(x) > math.Abs(most) {
			most = x
		}
	}
	return most
}

// Estimated says whether figures were extrapolated.
func (r *Run) Estimated() bool { return r.any(func(p *Process) bool { return p.Estimated }) }

// Threaded says whether a process had more than one thread.
func (r *Run) Threaded() bool { return r.any(func(p *Process) bool { return p.Threads > 1 }) }

// ProbeTime returns the time of probes that is still in the figures of all processes, ns.
func (r *Run) ProbeTime() (sum int64) {
	for i := range r.Processes {
		sum += r.Processes[i].ProbeTime
	}
	return sum
}

// Hidden says why nothing can be told of the run's times: probes took too much of the time of some
// process. If this holds for several processes, Hidden is about the one with the largest share.
// nil: the times can be told.
func (r *Run) Hidden() (worst *analysis.Hidden) {
	for i := range r.Processes {
		worst = worst.Or(r.Processes[i].Hidden)
	}
	return worst
}
