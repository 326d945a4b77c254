// Package bpf holds the kernel side: the eBPF programs, their loaders, and the decoder of their
// records. The programs report probe hits, samples and switches of threads, and follow processes.
// The objects are generated from the C files and committed, so that building needs no clang; `make
// generate` renews them.
//
// # Records and rings
//
// A hit's attach cookie is the number of a row in a BPF map. The program (probe.bpf.c, hits.h)
// reads what the row names: arguments, thread-local team data, flags. Then it writes one record to
// a ring. A thread always writes to the same ring, so its order holds. A full ring counts the
// records that it drops, per row and thread.
//
// The rings are memory that both sides map (ring.h, ring.go). A thread claims the bytes of an entry
// by an atomic compare-and-exchange, writes the record, and stores the entry's size last. The
// reader waits where the size is 0, and clears what it has read. So an entry costs some 15 ns; in a
// ring of the kernel's (BPF_MAP_TYPE_RINGBUF) it cost 25 to 40 ns more.
//
// Each ring has a small part, of 1 MiB, and a large part. The large part is used while the reader
// is late. Otherwise all entries are in the small part, and stay in the machine's caches. Elsewhere
// a record costs 7 to 20 ns more (ring.h).
//
// A thread wakes the reader once per 512 KiB (`submit` in ring.h). Otherwise the reader looks after
// a pause in which the rings surely do not fill (waiter.go, collect/reader.go), since each look
// costs a processor 50 us and more. A record that is being written holds up the reading of its own
// ring only.
//
// Where kernels allow it (6.10), programs of probes may sleep (sleep.go, running.h). All of them
// keep to the thread's kernel stack (kernel_stack.h). The code that most hits need is inlined into
// the programs (`report`). The code that few hits need is in functions (`report_with_all`).
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
// probes/fold.go tells which constructs are folded, and how their begins are paired with their
// ends.
//
// In session mode one probe serves entry and return. Then the return tells the call site of a
// folded construct (since Linux 6.16, see SitesLater). That spares a read of user memory. If the
// thread settles before the return, the kernel's list of pending returns tells the call site.
//
// A time at which package collect cuts the stream must not lie inside a sum. So `fold_hold` keeps
// all threads from folding while such a time is taken (HoldFolds, LetFold). A walk over a process's
// threads makes them settle (SettleFolds), when the process's probes are gone or while the process
// is stopped.
//
// Where user regions are measured, all executions in a slot have the same stack pointer. The engine
// finds by the stack pointer which regions an exception has left. Nothing is folded with counters
// that take turns, with --trace, or with `ompp_off` in the program.
//
// # MPI
//
// mpi.bpf.c writes one record per MPI call, at the call's return, to the thread's ring. At the
// call's entry it computes what the call would move. Counts come from the arguments. Sizes come
// from formulas that package mpilib/handles derived from the library (`evaluate` in mpi_args.h).
// Arrays are read by programs that may sleep.
//
// Until the return these values wait in the thread's storage. A call with a lower stack pointer is
// nested in the open call, and is left out. Values of predefined handles are kept per thread, since
// a read of user memory costs more than all else. A call that never returns is reported as
// unfinished when its thread ends, or by a walk over the threads when the measurement ends
// (MPI.CutOff). Records of calls by the bindings of Fortran and C++ carry the stack. Persistent
// requests, and the degrees of topologies, are kept by process and handle from the call that makes
// them.
//
// # Counters
//
// Hardware events are opened once per CPU, as perf's bperf does, and read at each hit (counters.h).
// `sched_switch` adds to a thread's sum when the thread leaves a CPU, and notes the CPU's counts
// when the thread comes to one. So the cost of set-up does not grow with the number of threads. A
// thread's storage is made when a counted thread starts that thread: no memory may be allocated
// while the scheduler holds its lock. If a switch interrupts a probe between its reads, the probe
// reads again.
//
// Linux does not tell of every switch from idleness (seen with 6.18 in a virtual machine). Then the
// counts from the moment at which the CPU became idle are taken, and the scheduler's account tells
// since when the thread runs. Records with uncertain counts are marked (REC_UNCOUNTED).
//
// # Samples
//
// A sampling event is open on each processor. When the event overflows, sample.bpf.c looks whether
// a sampled process runs there. If so, the registers and the used part of the stack (at most 32
// KiB) go into the thread's own ring. So samples are in order with the probes' records. An event
// per thread would have to be inherited, opened for all threads at attach, and switched with the
// thread. A function with a return probe returns to the kernel's trampoline, so the sample brings
// the true return addresses along.
//
// # Times off a core
//
// The scheduler keeps for each thread how long the thread was ready and had no core. A hit reports
// that sum when it has grown (core_wait.h). With --sched, sched.bpf.c writes a record for each time
// that a thread was off its core, with the reason.
//
// # Following and stopping
//
// follow.bpf.c watches exec, fork, exit, and the loader's `_dl_debug_state`. Package collect tells
// how a program is stopped until its probes are placed.
//
// # Loading fast
//
// The verifier is fast where paths that meet again have the same state. So a value that is a known
// constant on one path only is hidden from the verifier (`unknown` in ring.h). Several programs are
// verified at the same time (load.go).
//
// # Testing hits without probes
//
// drive.bpf.c is an object of the tests. It runs the code of a hit (hits.h) without a probe, on the
// maps of a loaded kernel side (driven_test.go).
package bpf
