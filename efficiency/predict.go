package efficiency

import "ompp-attach/model"

// Means returns the figures from which predictions start: means over the run's ranks, in seconds.
// Threads is 0 if ranks have different numbers of threads. Missing ranks are supposed to be like
// the others.
//
// No time is in two of the parts. Under limited parallelism one thread works, and the others wait
// for this thread. The time of the working thread is Unparallel, without its time in MPI, which
// belongs to MPI. The others' wait is in no part: the working thread has the same wall time
// already.
func (r *Run) Means() *model.Measured {
	p := &model.Measured{Ranks: r.Ranks(), Threads: r.Processes[0].Threads, Time: float64(r.Runtime) / 1e9}
	for i := range r.Processes {
		if r.Processes[i].Threads != p.Threads {
			p.Threads = 0
		}
	}
	sum, _, _, _ := r.communication()
	sum /= 1e9
	p.Communication = &sum
	for i := range r.Processes {
		x := &r.Processes[i]
		each := func(parts ...Part) (sum float64) {
			for _, part := range parts {
				sum += float64(x.Parts[part]) / 1e9 / float64(len(r.Processes))
			}
			return sum
		}
		n := float64(x.Threads)
		p.Serial += each(Serial, SerialWait)
		p.Work += each(Work)
		p.Overhead += each(Mgmt) / n
		waiting, unparallel, mpi := each(Imbal, Synch, TeamIdle), each(Limpar), each(MPI)
		var alone float64 // MPI of one thread, wall time
		if n > 1 {
			single := min(float64(x.SingleMPI)/1e9/float64(len(r.Processes)), unparallel/(n-1))
			primary := min(float64(x.PrimaryMPI)/1e9/float64(len(r.Processes)), waiting/(n-1))
			alone = single + primary
			// Rounding could make the differences negative.
			unparallel, waiting = max(0, unparallel/(n-1)-single), max(0, waiting-primary*(n-1))
			// If others wait for the one thread for longer than this thread works, the thread lacks
			// a core.
			if beyond := unparallel - each(Work); beyond > 0 {
				unparallel, waiting = unparallel-beyond, waiting+beyond*(n-1)
			}
		}
		p.Unparallel += unparallel
		p.Uneven += waiting
		p.MPI += each(SerialMPI) + alone + max(0, mpi-alone)/n
	}
	return p
}
