package severity

import "ompp-attach/analysis"

// Where properties are defined.
const (
	expert   = "EXPERT 3.0"
	scalasca = "Scalasca 2.5"
	ompP     = "ompP"
	own      = "ompp-attach"
)

// The IDs that the code below uses.
const (
	Time            = "time"
	Execution       = "execution"
	Computation     = "computation"
	NoCore          = "no_core"
	Management      = "omp_management"
	TeamStart       = "omp_fork"
	TeamEnd         = "omp_join"
	IdleThreads     = "idle_threads"
	IdleStartEnd    = "idle_start_end"
	LimitedParallel = "limited_parallelism"
	NotKnown        = "not_known"
	Probes          = "probes"
	Visits          = "visits"
	PrimaryOnly     = "omp_primary_only"
	ExecutedTasks   = "omp_tasks"
)

var general = []Property{
	{ID: Time, Name: "Time", Unit: Seconds, Source: expert,
		Description: "The time of all threads: wall time times threads, with idle threads.",
		Formula:     "Sum of the properties below."},
	{ID: Execution, Parent: Time, Name: "Execution", Unit: Seconds, Source: expert,
		Description: "The time in which threads execute the program, or wait within it.",
		Formula:     "Time - Idle threads - Not known"},
	{ID: Computation, Parent: Execution, Name: "Computation", Unit: Seconds, Source: expert,
		Description: "The program's own work, in regions and outside.",
		Formula:     "Execution - OpenMP - MPI - Time without a core"},
	{ID: NoCore, Parent: Execution, Name: "Time without a core", OmpP: analysis.WaitForCore, Unit: Seconds, Source: own,
		Gain: Removal, Reported: true,
		Description: "Threads were ready to run without a core. Other threads or processes had the cores, or a control group's limit was reached.",
		Formula:     "run_delay of the kernel, within the path; outside of regions, that of initial threads",
		Diagnosis:   "Compare the number of threads of all processes on the machine with its cores.",
		Helps:       "Start no more threads than there are cores for them, bind threads, and move other load away."},
	{ID: IdleThreads, Parent: Time, Name: "Idle threads", OmpP: analysis.IdleThreadsProperty, Unit: Seconds, Source: expert,
		Gain: Spread, Reported: true,
		Description: "Workers are in no region while their initial thread executes serial code. The time stands " +
			"at the call path of the initial thread.",
		Formula:   "(threads - 1) x exclusive time of the initial thread outside of parallel regions",
		Diagnosis: "The call path tells which serial code that is: the program outside of all regions, or MPI.",
		Helps:     "Parallelise that code, overlap MPI with work of other threads, or start fewer threads."},
	{ID: IdleStartEnd, Parent: IdleThreads, Name: "Idle threads at start and end of MPI", Unit: Seconds, Source: own,
		Gain: Absence, Reported: true,
		Description: "Workers are in no region while their initial thread is in MPI_Init or MPI_Finalize.",
		Formula:     "(threads - 1) x exclusive time of the initial thread in these calls",
		Diagnosis:   "Threads cannot share this time. See how long these calls take, and which rank comes late to them.",
		Helps:       "Shorten the calls themselves: start fewer ranks, or ask the launcher's manual. Threads that wait here take no work from others."},
	{ID: LimitedParallel, Parent: IdleThreads, Name: "Idle beside a smaller team", Unit: Seconds, Source: scalasca,
		Gain: Spread, Reported: true,
		Description: "Workers have no part in a team that is smaller than the largest one.",
		Formula:     "for each outermost parallel region: its time - the time of each worker in it",
		Diagnosis:   "Look for num_threads and if clauses, and for OMP_DYNAMIC.",
		Helps:       "Give the region all threads, if its work suffices for them."},
	{ID: NotKnown, Parent: Time, Name: "Not known", Unit: Seconds, Source: own,
		Description: "No event told where the thread was: it was in a region before measurement began.",
		Formula:     "life time of the thread - all other times"},
}

var openMP = []Property{
	{ID: "openmp", Parent: Execution, Name: "OpenMP", Unit: Seconds, Source: expert,
		Description: "The time that the OpenMP runtime takes, and the waits in it.",
		Formula:     "Management + Synchronisation"},
	{ID: Management, Parent: "openmp", Name: "OpenMP management", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "The runtime's own work: class Mgmt. By itself: barriers of teams of one thread.",
		Formula:     "class Mgmt of the overheads",
		Diagnosis:   "See the properties below.",
		Helps:       "Do not start teams of one thread: use an if clause."},
	{ID: TeamStart, Parent: Management, Name: "Team start", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "From the start of a parallel region until the thread begins the region's body.",
		Formula:     "startupT",
		Diagnosis:   "Compare the time with the region's body and its number of executions.",
		Helps:       "Make parallel regions longer: join neighbouring ones, and parallelise outer loops."},
	{ID: TeamEnd, Parent: Management, Name: "Team end", Unit: Seconds, Source: scalasca,
		Gain: Removal, Reported: true,
		Description: "From the end of a parallel region's final barrier until the region ends.",
		Formula:     "shutdwnT",
		Diagnosis:   "Compare the time with the region's body and its number of executions.",
		Helps:       "Make parallel regions longer: join neighbouring ones, and parallelise outer loops."},
	{ID: "omp_leave", Parent: Management, Name: "Leaving guarded code", Unit: Seconds, Source: ompP,
		Gain: Removal, Reported: true,
		Description: "Leaving critical sections, locks, ordered parts and reductions.",
		Formula:     "exitT",
		Diagnosis:   "It grows with the number of executions and with the threads that wait.",
		Helps:       "Enter such code less often: collect results in each thread, and combine them once."},
	{ID: "omp_sections_management", Parent: Management, Name: "Distribution of sections", Unit: Seconds, Source: ompP,
		Gain: Removal, Reported: true,
		Description: "The time in SECTIONS that is neither in a section nor in the final barrier.",
		Formula:     "mgmtT",
		Diagnosis:   "Compare the time with that of the sections themselves.",
		Helps:       "Make sections longer."},
	{ID: "omp_task_creation", Parent: Management, Name: "Task creation", Unit: Seconds, Source: own,
		Gain: Removal, Reported: true,
		Description: "Creating explicit tasks, without executing them.",
		Formula:     "exclusive time of TASK, UTASK and TASKLOOP",
		Diagnosis:   "Compare the time of a creation with that of an execution.",
		Helps:       "Create fewer, longer tasks: stop at a depth (final, if), or use grainsize."},
	{ID: "omp_transfer", Parent: Management, Name: "Transfer to and from devices", Unit: Seconds, Source: own,
		Gain: Removal, Reported: true,
		Description: "The host moves data to or from a device, or maps it.",
		Formula:     "enterT + exitT of TARGET DATA, ENTER DATA, EXIT DATA and UPDATE",
		Diagnosis:   "Look which data is moved at each execution, and whether it changed.",
		Helps:       "Keep data on the device in an outer target data region."},
	{ID: "omp_synchronisation", Parent: "openmp", Name: "OpenMP synchronisation", Unit: Seconds, Source: expert,
		Gain: Removal, Reported: true,
		Description: "Threads wait for each other, or coordinate.",
		Formula:     "classes Synch, Imbal and Limpar of the overheads",
		Diagnosis:   "See the properties below.",
		Helps:       "See the properties below."},
	{ID: "omp_barrier", Parent: "omp_synchronisation", Name: "OpenMP barrier", Unit: Seconds, Source: expert,
		Description: "The time in barriers, without the tasks that threads execute there.",
		Formula:     "Explicit barrier + Implicit barrier"},
	{ID: "omp_barrier_explicit", Parent: "omp_barrier", Name: "Explicit barrier", OmpP: analysis.WaitAtBarrier, Unit: Seconds, Source: expert,
		Gain: Balance, Reported: true,
		Description: "Threads are in a barrier that the program asks for.",
		Formula:     "execT - taskT of BARRIER",
		Diagnosis:   "See which threads wait least: the others wait for them.",
		Helps:       "Balance the work before the barrier, or remove it if no data passes between threads."},
	{ID: "omp_barrier_implicit", Parent: "omp_barrier", Name: "Implicit barrier", Unit: Seconds, Source: expert,
		Gain: Balance, Reported: true,
		Description: "Threads wait at the end of a construct. By itself: of constructs without a name below.",
		Formula:     "exitBarT - taskT",
		Diagnosis:   "See which threads wait least: the others wait for them.",
		Helps:       "Balance the work of the construct."},
	imbalance("region", analysis.ImbalanceInParallelRegion, "regions", "parallel regions",
		"Balance the region's work: a worksharing loop with schedule(dynamic) or guided, or tasks."),
	imbalance("loop", analysis.ImbalanceInParallelLoop, "loops", "loops",
		"If each thread has many iterations, use schedule(dynamic) or guided with a suitable chunk. If it has few, collapse nested loops, or divide the work more finely."),
	imbalance("workshare", analysis.ImbalanceInParallelWorkshare, "workshares", "workshare constructs",
		"Use arrays whose size the threads can share evenly, or write a loop with a schedule."),
	imbalance("sections", analysis.ImbalanceInParallelSections, "sections", "sections that take different times",
		"Divide the longest sections, or use tasks."),
	imbalance("sections_few", analysis.ImbalanceDueToNotEnoughSections, "few sections", "sections, of which there are fewer than threads",
		"Divide the work into more sections, or use tasks or a loop."),
	imbalance("sections_uneven", analysis.ImbalanceDueToUnevenSectionDistribution, "uneven sections", "sections, of which some threads got more",
		"Make the number of sections a multiple of the threads, or use tasks."),
	imbalance("single", analysis.UnparallelizedInSingleRegion, "single constructs", "single constructs, which one thread executes",
		"Shorten the single construct, use nowait, or let the others work: tasks, or a loop."),
	contention("omp_critical", "Critical section", analysis.CriticalSectionContention, "Threads wait to get into critical sections.",
		"enterT of CRITICAL",
		"Name critical sections so that they exclude only what they must, shorten them, or use atomic or reduction."),
	contention("omp_ordered", "Ordered", "", "Threads wait for their turn in ordered code.",
		"enterT of ORDERED",
		"Move work out of the ordered part, or use smaller chunks."),
	contention("omp_lock", "Lock", analysis.LockContention, "Threads wait for locks.",
		"enterT of LOCK and NEST LOCK",
		"Use several locks for parts of the data, hold them shorter, or use atomic operations."),
	contention("omp_atomic", "Atomic", analysis.FrequentAtomic, "Threads execute atomic operations, or wait for them.",
		"execT of ATOMIC",
		"Collect in a variable of each thread and combine once, for example by a reduction."),
	contention("omp_flush", "Flush", "", "Threads make memory consistent.",
		"execT of FLUSH",
		"Remove flushes that barriers, locks or atomic operations imply."),
	contention(Taskwait, "Wait for tasks", analysis.WaitAtTaskwait, "Threads wait for tasks, and have none to execute.",
		"idle time in TASKWAIT, TASKGROUP, TASKLOOP and TASKYIELD",
		"Create more tasks before the wait, create them earlier, or use depend clauses in place of the wait."),
	contention("omp_reduction", "Reduction", "", "Threads wait for their turn to combine their results.",
		"enterT of REDUCTION",
		"Reduce once at the end of a longer construct."),
	contention("omp_cancel", "Cancellation", "", "Threads ask whether a construct was cancelled, or cancel it.",
		"execT of CANCEL and CANCELLATION POINT",
		"Ask for cancellation less often."),
}

func imbalance(id, ompPName, short, where, helps string) Property {
	return Property{ID: "omp_barrier_" + id, Parent: "omp_barrier_implicit", Name: "At the end of " + short, OmpP: ompPName, Unit: Seconds,
		Source: ompP, Gain: Balance, Reported: true,
		Description: "Threads wait at the end of " + where + ".",
		Formula:     "exitBarT - taskT",
		Diagnosis:   "Threads that wait least had the most work: the others wait for them.",
		Helps:       helps}
}

func contention(id, name, ompPName, description, formula, helps string) Property {
	return Property{ID: id, Parent: "omp_synchronisation", Name: name, OmpP: ompPName, Unit: Seconds,
		Source: expert, Gain: Removal, Reported: true,
		Description: description,
		Formula:     formula,
		Diagnosis:   "Compare the number of executions, and the time inside, with the time of waiting.",
		Helps:       helps}
}

// others are trees beside Time.
var others = []Property{
	{ID: Probes, Name: "Cost of the measurement", Unit: Seconds, Source: own,
		Description: "The time that the measurement's own probes took. It is no part of Time, unless --raw is given.",
		Formula:     "calibrated cost of each kind of probe x hits"},
	{ID: PrimaryOnly, Name: "Primary thread only", OmpP: analysis.UnparallelizedInMasterRegion, Unit: Seconds, Source: ompP,
		Gain: Sharing, Reported: true,
		Description: "One thread works in MASTER or MASKED. That is work, and a part of Time; others may wait for it.",
		Formula:     "execT of MASTER and MASKED, with the regions inside but parallel regions and executed tasks, without overheads; 0 with one thread",
		Diagnosis:   "See whether other threads wait meanwhile: that time is in other findings.",
		Helps:       "Share this work among the threads, or let the others do something else meanwhile."},
	{ID: Visits, Name: "Visits", Unit: Count, Source: expert,
		Description: "Executions of the region by the thread.", Formula: "execC"},
	{ID: ExecutedTasks, Name: "Tasks executed while waiting", Unit: Count, Source: own,
		Description: "Explicit tasks that threads executed while they waited.", Formula: "number of tasks in taskT"},
	{ID: "mpi_calls", Name: "MPI calls", Unit: Count, Source: own,
		Description: "Calls of all MPI operations.", Formula: "number of calls"},
	{ID: "mpi_sends", Name: "Messages sent", Unit: Count, Source: expert,
		Description: "Point-to-point messages sent.", Formula: "sendC"},
	{ID: "mpi_recvs", Name: "Messages received", Unit: Count, Source: expert,
		Description: "Point-to-point messages received.", Formula: "recvC"},
	{ID: "mpi_collectives", Name: "Collective operations", Unit: Count, Source: expert,
		Description: "Collective operations, counted at each process.", Formula: "collC"},
	{ID: "mpi_bytes", Name: "MPI bytes", Unit: Bytes, Source: own,
		Description: "Bytes that MPI moved. Operations of unknown volume are left out.", Formula: "Sum of the properties below."},
	{ID: "mpi_bytes_sent", Parent: "mpi_bytes", Name: "Bytes sent", Unit: Bytes, Source: expert,
		Description: "Bytes sent, by the accounting that --volumes names.", Formula: "outV"},
	{ID: "mpi_bytes_received", Parent: "mpi_bytes", Name: "Bytes received", Unit: Bytes, Source: expert,
		Description: "Bytes received, by the accounting that --volumes names.", Formula: "inV"},
	{ID: "mpi_bytes_read", Parent: "mpi_bytes", Name: "Bytes read", Unit: Bytes, Source: own,
		Description: "Bytes read from files by MPI-IO.", Formula: "readV"},
	{ID: "mpi_bytes_written", Parent: "mpi_bytes", Name: "Bytes written", Unit: Bytes, Source: own,
		Description: "Bytes written to files by MPI-IO.", Formula: "writtenV"},
}
