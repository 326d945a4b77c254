// Package bpf holds the kernel side: the programs that report probe hits, the ones that follow
// processes, their loaders, and the decoder of their records. The objects are generated from the C
// files and committed, so that building needs no clang; `make generate` renews them.
//
// # Records and rings
//
// A hit's attach cookie is the number of a row in a BPF map. The program (probe.bpf.c, hits.h)
// reads what the row names: arguments, thread-local team data, flags. Then it writes one record to
// a ring. A thread always writes to the same ring, so its order holds. A full ring counts the
// records that it drops, per row and thread.
//
// A thread wakes the reader once per 512 KiB (`submit` in ring.h). Otherwise the reader looks by
// itself, as late as the rings surely have room (waiter.go): each look costs a processor 50 us and
// more. A record that is being written holds up its own ring only.
//
// Where kernels allow it (6.10), programs of probes may sleep (sleep.go, running.h). All of them
// keep to the thread's kernel stack (kernel_stack.h). What most hits need is in the programs
// themselves (`report`). What few hits need is in functions that are called (`report_with_all`).
//
// # Constructs that nest nothing are folded
//
// A critical, lock, ordered block, atomic by call or flush needs no records if its thread reports
// nothing else in it. The kernel side remembers that the construct is open. When the construct
// ends, it is added to a slot of the thread, by row, call site and name (thread.h, fold.h,
// fold_hits.h).
//
// A thread settles before it reports anything else: a record of any kind, a sample, its end, an
// exec. First its slots go out, as one record each (REC_FOLDED). Then the open construct goes out,
// as the records that it would have written, with their times. So nesting needs no rule of its own.
// probes/fold.go tells which constructs are folded, and what pairs their begins with their ends.
//
// Where one probe serves entry and return (session mode, Linux 6.16), the return tells the call
// site of what is folded. That spares a read of user memory. If the thread settles before the
// return, the kernel's list of pending returns tells the call site.
//
// Times at which package collect cuts the stream must not lie inside a sum. `hold` keeps all
// threads from folding. It is set before such a time is taken, and released after the measurement's
// begin was taken. A walk over a process's threads makes them settle (SettleFolds), when the
// process's probes are gone or while the process is stopped.
//
// Where user regions are measured, a slot holds executions of one stack pointer only. By the stack
// pointer the engine tells what an exception has left. Nothing is folded with counters that take
// turns, with --trace, or with `ompp_off` in the program.
//
// # MPI
//
// mpi.bpf.c writes one record per MPI call, at the call's return, to the thread's ring. At the
// call's entry it computes what the call would move. Counts come from the arguments. Sizes come
// from formulas that package mpilib/handles derived from the library (`evaluate` in mpi_args.h).
// Arrays are read by programs that may sleep.
//
// Until the return all this waits in the thread's storage. A lower stack pointer tells calls nested
// in the call, which are left out. Values of predefined handles are kept per thread, since a read
// of user memory is the dearest part. A call that never returns is reported as under way. That is
// done when its thread ends, or by a walk over the threads when the measurement ends (MPI.CutOff).
// Records of calls by the bindings of Fortran and C++ carry the stack. Persistent requests, and the
// degrees of topologies, are kept by process and handle from the call that makes them.
//
// # Counters
//
// Hardware events are opened once per CPU, as perf's bperf does, and read at each hit (counters.h).
// `sched_switch` adds to a thread's sum when the thread leaves a CPU, and notes the CPU's counts
// when the thread comes to one. So set-up does not grow with threads. A thread's storage is made
// when a counted thread starts it, not while the scheduler holds its lock. A probe that is
// interrupted between its reads reads again.
//
// Linux does not tell of every switch from idleness (seen with 6.18 in a virtual machine). Then the
// counts at which the CPU became idle serve, and the scheduler's account tells since when the
// thread runs. What is not known for certain is marked (REC_UNCOUNTED).
//
// # Samples
//
// An event per processor overflows. sample.bpf.c finds a followed process there. It puts registers
// and the stack in use (at most 32 KiB) into the thread's own ring. So a sample is in order with
// the probes' records. Events of single threads would have to be inherited, opened for all threads
// at attach, and switched with each of them. A function whose return is probed returns to the
// kernel's trampoline. The sample brings the true return addresses along.
//
// # Following and stopping
//
// follow.bpf.c watches exec, fork, exit, and the loader's `_dl_debug_state`. Package collect tells
// how a program is stopped until its probes are placed.
//
// # Loading fast
//
// The verifier is fast where ways that meet again are alike. So what is known of a constant on one
// way only is hidden from it (`unknown` in ring.h). Programs are verified several at a time
// (load.go).
//
// # Testing hits without probes
//
// drive.bpf.c is an object of the tests. It runs the code of a hit (hits.h) without a probe, on the
// maps of a loaded kernel side (driven_test.go).
package bpf
