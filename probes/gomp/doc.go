// Package gomp knows GCC's libgomp. It knows the entry points and three kinds of places inside the
// library. At these places threads start their part of a team, end it, or run tasks. Most of these
// places have no symbols; they are found by disassembly, and each finding is confirmed by a second
// one.
//
// The tool sees teams from inside. Probes are on `gomp_team_start` (entry: fork; return: the
// primary thread begins) and on `gomp_team_end` (entry: the body is over; return: join). Further
// probes are on instructions of `gomp_thread_start`, for workers.
package gomp
