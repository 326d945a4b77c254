// Package probes has in common what the runtimes' packages (probes/gomp, kmpc, tgt) are made of:
// the rows of a runtime's table, which say what a hit at an entry point means; the planner, which
// finds where a probe is cheapest and safe; and the decoder, which makes events of hits. Package
// openmp has the list of runtimes, package mpilib knows MPI.
//
// A probe sits at the cheapest instruction of an entry's straight line at which arguments and
// return address are intact (disasm.SafePoint). It never sits on a nop of 5 bytes;
// docs/beyond-the-trap.md tells why.
//
// # No return probe is pending while user code runs
//
// The kernel drops return probes beyond 64 pending per thread. One that is pending on a frame stops
// C++ exceptions. A program that switches stacks makes the kernel forget it, and dies of the
// return. So regions are not probed at `GOMP_parallel` or around `__kmpc_fork_call`, but inside,
// where user code has not begun or is over (packages gomp, kmpc). Other entry points that run user
// code (`GOMP_teams_reg`, `GOMP_target_ext`, `__kmpc_fork_teams`, `__tgt_target_kernel`) have their
// returns probed at the instructions through which they return (Enclosing). Task bodies nest even
// deeper: each runtime finds where a body begins and ends, and through which instructions the calls
// return that run some (TaskPoints).
//
// # The user's own regions
//
// Functions are probed at a cheap instruction of their straight line, and before each return and
// each jump out of them (disasm.Exits). Lines are probed where control crosses their borders
// (LineProbes). Markers are probed where their notes say (symbols/usdt.go). attribution/user
// keeps user regions on the thread's stack with the stack pointer at entry.
package probes
