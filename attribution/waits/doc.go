// Package waits tells in each barrier of a team how long every thread waited, and for which thread.
// It tells also what that thread had done more than the others.
//
// All threads of a team pass all of its barriers (OpenMP 5.2, chapter 15.3). So the barrier that a
// thread comes to as its k-th one in an execution of the team is the k-th of every thread. Such a
// barrier is an instance. The region's final barrier is the last instance. When the arrivals of all
// threads have been read, the last arrival is known. A thread's wait is final when the thread has
// left the barrier, because only then all tasks that the thread executed meanwhile have been read.
// Threads may be read in any order.
//
// An event may tell that a thread leaves a barrier. If none does, the thread's next arrival ends
// its part.
//
// If an arrival may be missing, nothing is guessed: the arrivals of the team's open instances, and
// all later ones, are counted as dropped.
//
// Since the team's threads were last together, an Interval notes how long the thread was in each
// innermost region. The late thread's times minus a waiting thread's times are the delay, region by
// region, scaled to the wait. These are the short-term costs of Böhme et al., "Identifying the root
// causes of wait states in large-scale parallel applications", ICPP 2010.
//
//   - interval.go: what a thread does between two barriers
//   - team.go: the instances of a team's barriers
//   - instance.go: what an instance tells
//   - delay.go: what the last thread did more than another one
//   - task.go: for whose tasks threads wait, and what they do in a barrier
//   - critical.go: what made the last thread wait before, and the critical path
//   - locks.go: for which holders of a lock a thread waited
//   - offcore.go: when a thread was off its core,
//     and which part of its waits that explains (--sched)
//   - blame_offcore.go: the same of the last thread at a barrier, and of a lock's holder
//   - rivals.go: processes that had a core for which a thread was ready
package waits
