package results

import (
	"slices"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// noteSpawned warns that processes which a rank has started are not measured: the job's launcher
// starts these, out of the tool's sight.
const noteSpawned = "The rank started other processes by MPI_Comm_spawn. These were not measured: the launcher starts them. " + job.MeasureSpawned

// tellSpawned adds that warning to the profiles of ranks that started processes. A tool that has
// started the launcher itself measures such processes.
func (o *Directory) tellSpawned(profiles []*profile.Profile) {
	for _, p := range profiles {
		if isRank(p) && (o.rank != nil || p.Meta.Attached) && spawns(p) && !slices.Contains(p.Warnings, noteSpawned) {
			p.Warnings = append(p.Warnings, noteSpawned)
		}
	}
}

// spawns tells whether a process started others by MPI.
func spawns(p *profile.Profile) bool {
	return slices.ContainsFunc(p.Regions, func(r profile.Region) bool {
		return r.Construct == event.MPI && mpi.SpawnsProcesses(r.Name)
	})
}
