package job

import "slices"

// launches tells the ranks of the job from the ranks of jobs that these have started. The latter
// may be more than the former (MPI_Comm_spawn).
type launches struct {
	names   []string // of the jobs that the profiles are of, as launchers name them
	foreign []string // the names of jobs that are left out
}

// another takes the next rank, and reports whether it is to be left out. name is that of its job.
// further: the rank has a profile in the job already.
func (l *launches) another(name string, further bool) bool {
	if name != "" && !slices.Contains(l.names, name) {
		l.names = append(l.names, name)
		if further {
			l.foreign = append(l.foreign, name)
		}
	}
	return slices.Contains(l.foreign, name)
}
