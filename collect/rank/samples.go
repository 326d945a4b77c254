package rank

import (
	"slices"
	"strings"

	"ompp-attach/profile"
)

// MarkSamples marks the samples of a profile that were taken in an MPI call. The engine cannot do
// that, because a call is reported only when it returns.
func MarkSamples(prof *profile.Profile) {
	job := prof.Meta.MPI
	if job == nil || job.Path == "" {
		return
	}
	inMPI := make([]bool, len(prof.Frames))
	for i := range prof.Frames {
		f := &prof.Frames[i]
		static := job.Path == prof.Meta.Path
		inMPI[i] = f.Object == job.Path && (!static || strings.HasPrefix(f.Function, "MPI_") || strings.HasPrefix(f.Function, "PMPI_"))
	}
	for i := range prof.Samples {
		s := &prof.Samples[i]
		if s.Phase != profile.PhaseProbe && slices.ContainsFunc(s.Stack, func(f int) bool { return inMPI[f] }) {
			s.Phase = profile.PhaseMPI
		}
	}
}
