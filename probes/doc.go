// Package probes knows the OpenMP runtimes and MPI: which entry points they have, what a hit there
// means, where a probe is cheapest and safe, and how hits become events.
//
// A probe sits at the cheapest instruction of an entry's straight line at which arguments and
// return address are intact (insn.SafePoint). It never sits on a nop of 5 bytes;
// docs/beyond-the-trap.md tells why.
//
// # No return probe is pending while user code runs
//
// The kernel drops return probes beyond 64 pending per thread. One that is pending on a frame stops C++
// exceptions. A program that switches stacks makes the kernel forget it, and dies of the return. So
// regions are not probed at `GOMP_parallel` or around `__kmpc_fork_call`, but inside, where user code has
// not begun or is over:
//   - libgomp: `gomp_team_start` (entry: fork; return: the primary thread begins), `gomp_team_end` (entry:
//     the body is over; return: join), and plain probes in `gomp_thread_start` for workers;
//   - libomp: `__kmp_invoke_microtask` (entry), the instruction behind each call of it (end), and the last
//     jump of `__kmpc_fork_call` (join).
//
// Most of these have no symbols: gomp_internals.go and kmpc_exits.go find and cross-check them by
// disassembly. Other entry points that run user code (`GOMP_teams_reg`, `GOMP_target_ext`,
// `__kmpc_fork_teams`, `__tgt_target_kernel`) have their returns probed where `exits` finds them.
// Task bodies nest even deeper: gomp_tasks.go and kmpc_tasks.go find where each begins and ends,
// and through which instructions the calls return that run some.
//
// # MPI
//
// Each C entry point of an MPI library is found by what the library defines, and probed once
// (mpi.go).
//
// # The user's own regions
//
// Functions are probed at a cheap instruction of their straight line, and before each return and
// each jump out of them (insn.Exits). Lines are probed where control crosses their borders
// (LineProbes). Markers are probed where their notes say (symbols/usdt.go). attribution/user.go
// keeps user regions on the thread's stack with the stack pointer at entry.
package probes
