package severity

import (
	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// waits says which property the class Synch of a construct is.
var waits = map[event.Construct]string{
	event.Barrier:           "omp_barrier_explicit",
	event.Critical:          "omp_critical",
	event.Ordered:           "omp_ordered",
	event.Lock:              "omp_lock",
	event.NestLock:          "omp_lock",
	event.Atomic:            "omp_atomic",
	event.Flush:             "omp_flush",
	event.TaskWait:          Taskwait,
	event.TaskGroup:         Taskwait,
	event.TaskLoop:          Taskwait,
	event.TaskYield:         Taskwait,
	event.Reduction:         "omp_reduction",
	event.Cancel:            "omp_cancel",
	event.CancellationPoint: "omp_cancel",
}

// synchronisation returns the property of the class Synch of a construct.
func synchronisation(c event.Construct) string {
	if id, ok := waits[c]; ok {
		return id
	}
	return "omp_synchronisation"
}

// implicit says which property ompP's name of a wait at the end of a construct stands for.
var implicit = func() map[string]string {
	out := map[string]string{}
	for _, p := range openMP {
		if p.Parent == "omp_barrier_implicit" {
			out[p.OmpP] = p.ID
		}
	}
	return out
}()

// barrier returns the property of the wait at the end of a node's construct.
func (w *walker) barrier(node int, c event.Construct) string {
	if id, ok := w.sections[w.p.Nodes[node].Region]; ok {
		return id
	}
	if id, ok := implicit[analysis.LeadsTo(c)]; ok {
		return id
	}
	return "omp_barrier_implicit"
}

// sectionsOf finds the reason of the wait at the end of each region with sections.
func (w *walker) sectionsOf() {
	for region, b := range analysis.Flat(w.p) {
		if c := w.p.Regions[region].Construct; c == event.Sections || c == event.ParallelSections {
			w.sections[region] = implicit[analysis.SectionsProperty(&b)]
		}
	}
}

// management divides the class Mgmt of a construct.
func (w *walker) management(add func(string, int64), c event.Construct, s *profile.ThreadStats, mgmt int64) {
	bare := analysis.WithCore(c, s)
	switch overhead := c.Form().Overhead; overhead {
	case event.TeamImbal, event.TeamSections:
		add(TeamStart, min(mgmt, bare.Enter.T))
		mgmt -= min(mgmt, bare.Enter.T)
		add(TeamEnd, min(mgmt, bare.Exit.T))
		add(Management, mgmt-min(mgmt, bare.Exit.T))
	case event.GuardSynch:
		add("omp_leave", mgmt)
	case event.TransferMgmt:
		add("omp_transfer", mgmt)
	case event.CreationMgmt:
		add("omp_task_creation", mgmt)
	case event.SectionsImbal:
		rest := min(mgmt, bare.Exec.T-bare.Body.T-bare.Barrier.T)
		add("omp_sections_management", rest)
		add(Management, mgmt-rest)
	default:
		add(Management, mgmt)
	}
}
