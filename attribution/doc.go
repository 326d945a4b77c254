// Package attribution turns the events of one process into a profile. For each thread, the engine
// keeps a stack of its open OpenMP regions. It charges times, counts, counters and MPI traffic to
// these regions. The package is pure: it does no I/O and knows no BPF.
//
// # Rooms
//
//   - engine.go: the front door
//   - feed.go, park.go, pause.go, finish.go: the order in which events are applied
//   - concerns.go: what the engine is made of; threads.go, progress.go, clock.go: what the concerns
//     share
//   - snapshot.go: a profile of the events so far; replay.go: profiles of recorded streams
//   - dispatch.go: the table of edges and constructs
//   - edges.go: ends of calls that are derived
//   - one file for each concern: parallel.go, leagues.go, exclusive.go, tasking.go, inlined.go,
//     folded.go, observing.go
//   - package sharing: worksharing constructs, barriers
//   - package stream: recorded streams of events, for tests
//   - package stack: threads, their open regions, teams
//   - package ends: ends of calls that are estimated
//   - package ledger: what open regions are charged with
//   - package seats: seats of threads; package samples: samples by region and stack
//   - package spans: single executions, as a timeline is told of them
//   - package user: user regions
//   - package calls: what MPI calls are charged to; calls recorded one by one
//   - package mpicall: an MPI call's figures, communicators, senders
//   - package tree: the call-path tree; package place: the keys of its nodes
//   - package waits: who waits at barriers and for locks, and for whom
//   - package strip: the states of threads over time
//   - package estimate: executions that were not observed
//   - package build: the profile of the tree
//
// # Words
//
//   - account: what an open region has been charged with
//   - hand up: add an account to the region around, as a child's time; disown: as its own
//   - toll: time in an account that probes took, or that passed without a core
//   - abandon: end a region whose end was not seen
//
// # Threads are independent
//
// The events of one thread come in the order in which they happened. Events of different threads
// come in any order, and the profile is the same.
//
// Nodes of the call-path tree are keyed by addresses while events arrive. Nothing is resolved to a
// source line meanwhile, with one exception: a few questions decide the structure of the tree (is
// this single a `nowait`? is this call a combined construct?). Each is asked once per address. At
// the end, Engine.Finish resolves each key to its place in the source. It joins nodes that turn out
// to be one place, and orders regions and threads.
//
// # Teams
//
// A worker takes its primary thread's stack. The fork names a team: libgomp by the address of the
// team, libomp by the address of the argument vector. A thread's begin names its team and its
// thread number as the runtime has them. A begin that is read before its fork parks its thread
// until the fork has been read. libomp's primary thread names its team when it begins. If it is
// silent for a second, a worker's function tells the team.
//
// A worker's begin belongs to an execution of the region only if the primary thread's events have
// been read up to that execution. Until then the begin waits.
//
// Startup, implicit barrier and shutdown depend on all threads of a team. They are charged when the
// last event of the team has arrived. If an event is lost, they are charged a second later, and the
// report has a note.
//
// A league is a team of initial threads. libomp executes each team of a league on a thread of its
// own, so the seats of a TEAMS region are its teams. libgomp executes one team after another, so
// there is one seat. In regions inside, a seat is a thread number of the inner team. Nothing in a
// begin of libomp names the league; a team of a league is recognised by the function that it
// executes (parallel.go, leagues.go).
//
// # Tasks
//
// A task has a clock of its own. Its execution is open on the thread that executes it, but its node
// hangs below the place that created it. The creation is found by the task's address. Addresses are
// used again, so tasks begin in the order of their times, and only when all earlier events have
// been read. While a task is executed, the task below it is suspended and its clock stands still
// (tasking.go).
//
// Paths do not grow with recursion. Tasks that create each other, directly or through others, are a
// group. A path enters a group once: an execution of the group's tasks stands where the first of
// them was created (package tree). The engine learns groups per outermost region, from the
// creations that it sees. Executions that came before a group was known are moved at the end, so
// that the order of reading does not matter. User regions that enter each other nest in time. There
// the inner execution's time goes to the outer execution of the same region, and is taken out of
// the regions between. A region that enters itself directly (functions, nested teams) keeps a node
// per level; the text report shows four.
//
// # MPI calls
//
// An MPI call is charged when it returns (package calls). It is charged to the root, to every open
// region whose clock runs, and to a leaf region of the operation and its call site. That is equal
// to ompP's way of reading MPI's counters at enter and exit. It is right also where an end is never
// seen. No time is in two overhead classes (analysis.Rules).
//
// # Counters
//
// A counter's advance since the thread's last event belongs to the innermost open region. When that
// region ends, the advance goes to the regions around it (package ledger). So a suspended region
// needs no rule of its own. A thread's last event in a region is its end: counts of workers in the
// final barrier are left out.
//
// # Time
//
// The engine's clock is the program's. It stands still while the program is stopped until its
// probes are placed (clock.go). Regions under way, samples and MPI calls are not charged with that
// time.
//
// The time that two hits took between their time stamps is charged to the phase of the innermost
// region. It is handed up to the regions around, so that each time has its cost beside it (package
// ledger). Times stay as measured; analysis.Adjust takes the cost out. TestCostsExactly replays
// each case of one thread with and without costs. A team's thread never waits for its own hits in
// the final barrier.
//
// # Attached to a running process
//
// A thread that existed at attach has a node of its own (stack/place.go) until an event tells
// whether it was in a region. If it was in none, the nodes below that node become the program's. If
// it was in one, the region is found by the places of its constructs and samples. They have to lie
// in one region's outlined function. A note says if some threads told nothing (build/underway.go).
//
// Ends without a begin, regions under way at attach or cut off at the end, and losses are counted
// and marked.
//
// # Samples
//
// The engine adds a sample's addresses to the innermost open region and its phase
// (stack/samples.go). A sample that comes behind a thread's body waits for the team's join, which
// tells the phase. Stacks and places of samples are bounded.
//
// # Ends that are derived
//
// Not every return of a fork, barrier or team's end is reported (event.Sparse). Such an end is
// pending on its thread (stack.Edge). Before the thread's next event it is derived, and applied
// like an event (edges.go). These rules keep threads from waiting for each other for ever:
//
//   - Events of one thread are applied in order. An event waits only for events of other threads
//     that came earlier. So the earliest event that waits can always go on, and with it all.
//   - The next event behind a pending barrier or join waits for the arrivals of the team. These
//     came before the end, and so before that event.
//   - A worker's begin waits until nothing that its primary thread did before is unknown, except
//     samples. An event of the primary thread that waits itself tells enough: what it did before
//     that event has been applied.
//   - A sample behind a pending end waits for its own thread's next event of another kind, for
//     0.1 s at most. Nothing of another thread waits for samples. A sample before the team's last
//     arrival lies in the call.
//   - A team whose join is pending may be over, and its address in use again. A thread that has not
//     served its primary thread before begins there only if no earlier begin can still come.
//   - Arrivals that have not come within a second will not come (progress.go). After a loss, all
//     that comes has been read when the clock says so.
//
// The time from the last arrival to the end is estimated from executions that are reported in full,
// and that chance has chosen. The time from the last arrival to the thread's next event is known of
// all executions. A reported execution stands for the executions in which that time is about the
// same (package ends).
//
// # Sums
//
// A folded construct arrives as a sum. The engine charges the sum where it would have opened
// and closed a region (folded.go). A model of the kernel side's rules in Go folds every stream
// that the tests have; the profile must be the same (fold_model_test.go). There is one exception: a
// lock that another thread unsets, which OpenMP forbids, ends where the unset was read.
//
// # A budget
//
// With --max-overhead, Engine.Observe tells each change of what is observed, with its time, before
// any later event. The engine applies the change to each thread when that thread's events come to
// it (observing.go). Open regions of the affected constructs are closed. Their events are ignored
// until they are observed again. A change is done when every thread has come to it. At each change
// the engine reads the figures of each thread. Package estimate makes rates of two readings, and
// adds the estimates of the gaps to the figures.
//
// # A timeline
//
// Engine.Timeline gives the engine a sink (package timeline). Then each charge of an execution, a
// call or a fold tells the sink the charge and its time (package spans). So the spans of a
// timeline add up to the profile, exactly (timeline_test.go). A node gets a number with its first
// span. At the end the builder says which node of the profile each
// number has become (build/timeline.go).
//
// # The scheduler
//
// With --sched, events tell when a thread was off its core (event.OffCoreTime). waits.OffCoreTimes
// keeps these times of a thread. It divides each wait of the thread by them, when the thread has
// been read up to the end of the wait.
//
// # Memory
//
// Memory grows with regions and threads, not with time. Threads that ended are forgotten
// (forgetIdle). Queues that a burst made long are freed. soak_test.go replays an hour.
package attribution
