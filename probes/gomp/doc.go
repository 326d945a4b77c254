// Package gomp knows GCC's libgomp: its entry points, and the places inside it where threads start
// and end their part of a team, and where tasks run. Most of these places have no symbols; they are
// found by disassembly, and each finding is confirmed by a second one.
//
// Teams are seen from inside: `gomp_team_start` (entry: fork; return: the primary thread begins),
// `gomp_team_end` (entry: the body is over; return: join), and probes on instructions of
// `gomp_thread_start` for workers.
package gomp
