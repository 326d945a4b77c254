package severity

import (
	"strings"

	"ompp-attach/mpi"
)

var mpiTimes = []Property{
	{ID: "mpi", Parent: Execution, Name: "MPI", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "The time in MPI calls. By itself: calls of which it is not known what they are.",
		Formula:     "class MPI of the overheads",
		Diagnosis:   "Reports without --classic tell the operations apart.",
		Helps:       "Communicate less, or while threads work."},
	{ID: "mpi_management", Parent: "mpi", Name: "MPI management", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "Calls that move no data. By itself: those without a name below.",
		Formula:     "time in such calls",
		Diagnosis:   "Look for calls within loops.",
		Helps:       "Make datatypes, groups and the like once, before the loop."},
	{ID: "mpi_init_exit", Parent: "mpi_management", Name: "MPI start and end", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "MPI_Init, MPI_Finalize and theirs.",
		Formula:     "time in such calls",
		Diagnosis:   "Start and end wait for the slowest process: ranks that spend the least there came last.",
		Helps:       "Make runs longer, balance the work before MPI_Finalize, or ask the launcher's manual."},
	{ID: "mpi_communicators", Parent: "mpi_management", Name: "MPI communicators and topologies", Unit: Seconds, Source: scalasca,
		Gain: Removal, Reported: true,
		Description: "Making and freeing communicators, groups and topologies.",
		Formula:     "time in such calls",
		Diagnosis:   "Most of these calls wait for all processes of the communicator.",
		Helps:       "Make communicators once, and keep them."},
	{ID: "mpi_windows", Parent: "mpi_management", Name: "MPI windows", Unit: Seconds, Source: scalasca,
		Gain: Removal, Reported: true,
		Description: "Making and freeing windows of memory.",
		Formula:     "time in such calls",
		Diagnosis:   "These calls wait for all processes of the window.",
		Helps:       "Make windows once, and keep them."},
	{ID: "mpi_synchronisation", Parent: "mpi", Name: "MPI synchronisation", Unit: Seconds, Source: expert,
		Description: "Calls that only wait for other processes.", Formula: "Sum of the properties below."},
	{ID: "mpi_barrier", Parent: "mpi_synchronisation", Name: "MPI barrier", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "MPI_Barrier, and the start of nonblocking barriers.",
		Formula:     "time in such calls",
		Diagnosis:   "Ranks that spend the least there came last: the others wait for them.",
		Helps:       "Balance the work between ranks, or remove the barrier if messages order the work already."},
	{ID: "mpi_rma_synchronisation", Parent: "mpi_synchronisation", Name: "RMA synchronisation", Unit: Seconds, Source: scalasca,
		Gain: Removal, Reported: true,
		Description: "Fences, locks, flushes, and post, start, complete and wait of windows.",
		Formula:     "time in such calls",
		Diagnosis:   "Ranks that spend the least there came last.",
		Helps:       "Use passive locks or post and start between few ranks in place of fences."},
	{ID: "mpi_communication", Parent: "mpi", Name: "MPI communication", Unit: Seconds, Source: expert,
		Description: "Calls that move data between processes, or wait for that.", Formula: "Sum of the properties below."},
	{ID: "mpi_point_to_point", Parent: "mpi_communication", Name: "Point-to-point communication", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "Sends, receives, probes, and waits for requests of any kind.",
		Formula:     "time in such calls",
		Diagnosis:   "Compare the bytes and the messages with the time: much time for few bytes is waiting.",
		Helps:       "Post receives early, send as soon as data is ready, work between start and wait, or balance ranks."},
	{ID: "mpi_collective", Parent: "mpi_communication", Name: "Collective communication", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "Collective operations that move data.",
		Formula:     "time in such calls",
		Diagnosis:   "Ranks that spend the least there came last: the others wait for them.",
		Helps:       "Balance the work between ranks, join small operations, or use nonblocking ones."},
	{ID: "mpi_rma", Parent: "mpi_communication", Name: "Remote memory access", Unit: Seconds, Source: scalasca,
		Gain: Removal, Reported: true,
		Description: "Put, get, accumulate and theirs.",
		Formula:     "time in such calls",
		Diagnosis:   "Compare the bytes with the time.",
		Helps:       "Join small transfers."},
	{ID: "mpi_io", Parent: "mpi", Name: "MPI file I/O", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "Calls on files. By itself: opening, closing, views and the like.",
		Formula:     "time in such calls",
		Diagnosis:   "Compare the bytes read and written with the time.",
		Helps:       "Open files once."},
	{ID: "mpi_io_individual", Parent: "mpi_io", Name: "Individual file I/O", Unit: Seconds, Source: scalasca,
		Gain: Removal, Reported: true,
		Description: "Reading and writing by single processes.",
		Formula:     "time in such calls",
		Diagnosis:   "Compare the bytes with the time and the number of calls.",
		Helps:       "Read and write larger pieces, or use collective operations."},
	{ID: "mpi_io_collective", Parent: "mpi_io", Name: "Collective file I/O", Unit: Seconds, Source: scalasca,
		Gain: Removal, Reported: true,
		Description: "Reading and writing by all processes of the file together.",
		Formula:     "time in such calls",
		Diagnosis:   "Ranks that spend the least there came last.",
		Helps:       "Balance the ranks' parts, write less often, or use nonblocking operations."},
}

// operationProperty returns the property of the time in an MPI operation.
func operationProperty(name string) string {
	parsed, ok := mpi.ParseOp(name)
	if !ok {
		return "mpi"
	}
	op := parsed.Info()
	plain := strings.TrimSuffix(op.Name, "_c")
	is := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(plain, "MPI_"+p) {
				return true
			}
		}
		return false
	}
	switch {
	case op.StartEnd():
		return "mpi_init_exit"
	case op.Query:
		return "mpi_management"
	case is("File_") && (op.Kind == mpi.FileRead || op.Kind == mpi.FileWrite || strings.HasSuffix(plain, "_end")):
		if strings.Contains(plain, "_all") || strings.Contains(plain, "_ordered") {
			return "mpi_io_collective"
		}
		return "mpi_io_individual"
	case is("File_"):
		return "mpi_io"
	case strings.Contains(strings.ToLower(plain), "barrier"):
		return "mpi_barrier"
	case op.Kind == mpi.OneSided:
		return "mpi_rma"
	case is("Win_") && op.Communicates:
		return "mpi_rma_synchronisation"
	case is("Win_"):
		return "mpi_windows"
	case op.Counts&mpi.CountColl != 0:
		return "mpi_collective"
	case op.Communicates:
		return "mpi_point_to_point"
	case is("Comm_", "Cart_", "Graph_", "Dist_graph_", "Group_", "Intercomm_"):
		return "mpi_communicators"
	}
	return "mpi_management"
}
