// Package critical finds the critical path over the ranks of a job: the chain of work and calls
// that decides when the job ends. It is pure: matched calls in (match.Listener), times out.
//
// From the end of the last rank's last call, the path leads back in time. It stays with a rank
// until a call in which that rank waited. At the time at which the wait was over, the path changes
// to the rank that came last: to its call, and to the time before that call. A call's own time is
// the rest of the call, after the wait. So the path has one place at each time, and its parts add
// up to the job's time from the first call to the last. The definition is that of Böhme and others
// (Scalable critical-path based performance analysis, 2012).
//
// Calls that no rank leaves before all ranks have come (match.Listener.Together) divide the job
// into phases. Every path goes through the rank that came last there. So each phase is walked when
// it is over, and then forgotten. If it is not known for what a call on the path waited, the part
// of the phase before that call's end is not known. The paths of other phases are still known.
//
//   - critical.go: phases, their calls; walk.go: the path of a phase
//   - delay.go: what caused the waits, near and far
//   - balance.go: each rank's own time, and what balance saves
package critical
