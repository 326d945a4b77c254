package job

import (
	"iter"
	"slices"
)

// launches separates the ranks of the job from other ranks, which the job's ranks have started
// (MPI_Comm_spawn). The others belong to jobs of their own, which may have more ranks than the job.
type launches struct {
	names   []string // launchers' names of all jobs that have profiles here
	foreign []string // names of the jobs that the report leaves out
}

// another takes the profile of the next rank, and reports whether the report leaves that rank out.
// name is the launcher's name of the rank's job. further: the file is numbered as a further one of
// its rank (Source.Copy > 0), and a rank of the job has been read already.
func (l *launches) another(name string, further bool) bool {
	if name != "" && !slices.Contains(l.names, name) {
		l.names = append(l.names, name)
		if further {
			l.foreign = append(l.foreign, name)
		}
	}
	return slices.Contains(l.foreign, name)
}

// firstFilesFirst holds the further files of ranks (Source.Copy > 0) back until the first file of
// some rank has been read. That file tells which job the report is about. If no first file can be
// read, the further files follow at the end.
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
