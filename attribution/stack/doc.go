// Package stack holds what threads are doing: each thread's stack of open regions, the
// teams that it is in, and the operations on them. A region is opened (Push) and closed (Pop,
// Remove), left because an outer one ended (UnwindTo), or abandoned because its end was never seen
// (Abandon). When it ends, its account (package ledger) is charged to its node of the call-path
// tree, and handed up to the region around.
//
//   - thread.go: a thread; stack.go, region.go: its open regions, and one of them
//   - stacks.go: opening and closing
//   - unwind.go: closing what was left; lossy.go: closing after a loss
//   - charge.go: what is charged beside the time, and when
//   - task.go: tasks that end, and the regions that stood still for them
//   - team.go, teams.go: teams, and what their threads are charged with when all have reported
//   - turns.go: the barriers that the threads of a team come to
//   - place.go: initial threads; threads of which it is not known where they are
//   - waiting.go, edge.go: arrivals at barriers; ends of calls that are not reported
//   - brood.go: tasks that a wait for tasks waits for
//   - samples.go, presence.go: samples; a thread's time in a region as far as it is known at once
//   - offcore.go, strip.go, spans.go: what is told of times off a core, of states, of executions
package stack
