// Package stack holds what threads are doing: each thread's stack of open regions, the teams that
// the thread is in, and the operations on them. A region is opened (Push) and closed (Pop, Remove),
// left because an outer one ended (UnwindTo), or abandoned because its end was never seen
// (Abandon). When it ends, its account (package ledger) is charged to its node of the call-path
// tree, and handed up to the region around.
//
// This list has the package's files. A file uses only files that stand above it in the list
// (order_test.go checks this).
//
//   - turns.go: the barriers that the threads of a team come to
//   - team.go, region.go, stack.go, edge.go, thread.go: the data: a team, an open region, a
//     thread's open regions, the pending end of a call, a thread
//   - locks.go: when threads use locks; brood.go: tasks that a wait for tasks waits for
//   - waiting.go: arrivals at barriers
//   - offcore.go, strip.go, spans.go: what is told of times off a core, of states, of executions
//   - samples.go, presence.go: samples; a thread's time in a region as far as it is known at once
//   - teams.go: all teams, and what their threads are charged with when all have reported
//   - measurement.go: what is measured, what was missed
//   - charge.go: what is charged beside the time, and when
//   - pending.go: ends of calls that are not reported
//   - place.go: initial threads; threads of which it is not known where they are
//   - stacks.go: closing regions
//   - unwind.go: closing what was left; task.go: tasks that end, and what stood still for them
//   - lossy.go: closing after a loss
//   - opening.go: opening regions
//
// The data know each other, and that cycle stays. A thread's open region names its team. The team
// names its primary thread, because a worker's begin waits until that thread's events have been
// read. The team also lists the threads that wait for its arrivals.
package stack
