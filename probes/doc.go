// Package probes holds the parts that the runtimes' packages (probes/gomp, kmpc, tgt) share. The
// rows of a runtime's table say what a hit at an entry point means. The planner finds where a probe
// is cheapest and safe. The decoder makes events of hits. Package openmp has the list of runtimes,
// and package mpilib knows MPI.
//
// A probe sits at the cheapest instruction of an entry's straight line at which arguments and
// return address are intact (points.SafePoint). It never sits on a nop of 5 bytes;
// docs/beyond-the-trap.md tells why.
//
// # No return probe is pending while user code runs
//
// A thread may have 64 return probes pending; the kernel drops further ones. A return probe that is
// pending on a frame stops C++ exceptions. If the program switches stacks, the kernel forgets the
// return probe, and the program dies of the return. So regions are not probed at `GOMP_parallel` or
// around `__kmpc_fork_call`, but inside, where user code has not begun or is over (packages gomp,
// kmpc). Other entry points run user code, too (`GOMP_teams_reg`, `GOMP_target_ext`,
// `__kmpc_fork_teams`, `__tgt_target_kernel`). Their returns are probed at the instructions through
// which they return (Enclosing). Task bodies nest even deeper. Each runtime finds where a body
// begins and ends, and the instructions through which calls return that run tasks (TaskPoints).
//
// # The user's own regions
//
// Functions are probed at a cheap instruction of their straight line, and before each return and
// each jump out of them (points.Exits). Lines are probed where control crosses their borders
// (LineProbes). Markers are probed where their notes say (symbols/usdt.go). attribution/user
// keeps user regions on the thread's stack with the stack pointer at entry.
package probes
