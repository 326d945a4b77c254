package job

import (
	"iter"
	"slices"
)

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

// firstFilesFirst lets the further files of ranks wait until the first file of a rank has been
// read: that file tells which job the report is of. If none can be read, the further files have to
// do.
func firstFilesFirst[T any](all iter.Seq[outcome[T]]) iter.Seq[outcome[T]] {
	return func(yield func(outcome[T]) bool) {
		var further []outcome[T]
		known := false
		for x := range all {
			if x.err == nil && x.source.Copy > 0 && !known {
				further = append(further, x)
				continue
			}
			if !yield(x) {
				return
			}
			if x.err != nil || known {
				continue
			}
			known = true
			for _, f := range further {
				if !yield(f) {
					return
				}
			}
			further = nil
		}
		for _, f := range further {
			if !yield(f) {
				return
			}
		}
	}
}
