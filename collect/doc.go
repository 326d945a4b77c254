// Package collect runs a measurement. It follows processes, places probes in the runtimes that the
// processes map, reads the records, and feeds the engine of each process. What needs no measurement
// has packages of its own:
//
//   - target looks at processes from outside; launch starts programs
//   - user and selection hold what the user asked for
//   - plans keeps the plans of files; links holds placed probes
//   - places finds addresses in the source
//   - rank holds what is known of a process as a rank of a job
//   - budget decides which constructs are probed; advice says what the user should know
//   - debuggers keeps probes in place while a debugger is attached
//
// # Words
//
//   - follow: be told a process's lives: forks, execs, libraries
//   - stranger: a followed process that is not measured
//   - watch: be told when a loader has loaded libraries
//
// # Stopping and continuing
//
// A launched program, and each of its children, must not run on before its probes are placed. The
// kernel side puts the process's PID and the time into the map `stopped`, and then sends the
// process SIGSTOP. collect places the probes and sends SIGCONT. The kernel removes our probes when
// our file descriptors are closed, so also when we die. `attach` stops no process.
//
// Most programs of a process tree use no runtime, and must not wait for us. So a process is stopped
// only where its dynamic loader has loaded libraries and none of their code has run. Besides, one
// of its files must be one that may hold something to be measured (plain.go, loader.go,
// bpf/files.h). Each loader file is watched once, for all processes, until the measurement ends,
// because closing a link takes 20 to 75 ms. The kernel side walks the list of libraries. It looks
// up each file in the map `files`, by inode, size and time of its last change. The kernel side asks
// us about each file once. A program is stopped at its exec if its loader is not watched yet. A
// static program is stopped at its exec if its file is not known. A process that uses no runtime is
// sampled only after it has run for 250 ms. The kernel side needs bpf_find_vma (Linux 5.17);
// without bpf_find_vma every program is stopped.
//
// A tool that hangs or dies must not hold up the processes that it has stopped. From Linux 6.16 on,
// the kernel side ends stops by itself (bpf/release.h). It ends all of them when our last thread
// exits. The kernel closes our links only after that, so a BPF program still runs at the exit. It
// ends each of them after 5 s without a sign of life from us, and after 60 s in any case. The
// report names the processes that were continued in this way. On older kernels the guardian does
// this. The guardian is a second process in a session of its own, and holds the map `stopped`. If
// its pipe to us ends without a goodbye, it continues every process in the map. It also continues
// processes that have been in the map for 60 s. The guardian is started before the first program
// that may be stopped, and is replaced if it dies.
//
// Debuggers and uprobes do not know of each other's breakpoints (package debuggers). If a probe
// goes while a debugger's breakpoint is in its place, a trap is left behind that kills the program.
// So the probes stay until the debugger has gone.
//
// When the launched program ends, following ends first, and stopped processes are continued. Then
// all probes go. Places are looked up only after that. A vfork'd child shares its parent's memory,
// and is not stopped before its exec. Three more kinds of processes are not stopped:
//   - a program that has a handler for SIGCONT, when it loads libraries: Open MPI's mpirun
//     passes SIGCONT on to its ranks;
//   - a program whose parent would stop itself too (`stop_too`: su, sudo);
//   - a program of another user, if we may not send it SIGCONT.
//
// # One collector measures the ranks of a node
//
// `run` finds a rank's number in its environment (launch.RankOf). The tool of a rank does little
// itself (cmd/ompp-attach/rank.go). It launches the program, hands the program's PID to the
// collector by a unix socket, and passes on signals. It waits until the files are written, and ends
// as the program did. The first tool on a node starts the collector (package node). A lock decides
// which tool is the first, and the listening socket is created before the collector's process.
// Launchers kill by process group, and wait until their pipes are closed. So the collector has a
// session of its own, and keeps none of the launcher's files open. If a rank's tool is killed, the
// collector follows the program by its pidfd. If the collector is killed, the kernel side or the
// guardian continues the stopped processes.
//
// A Measurement has several Programs. A Program is a process that was launched or attached to, with
// all processes that it starts. The program's number is part of the flags with which the kernel
// side follows a process, and children inherit the flags. Program.End ends one program while the
// others go on.
//
// Ranks share probes (links.Shared). At every hit the kernel calls each link on the probed
// instruction, also links for other processes, and arms a return probe for each session. So the
// probes of a file are placed once for all processes, with a mark in the attach cookie. The BPF
// program answers only in processes of the map `sharing`. A resumed process has probes of its own.
//
// # Attaching fast
//
// A process may map hundreds of libraries and a program of hundreds of megabytes, and the program
// lacks the processor time that the tool uses. Several modules are opened at a time. DT_GNU_HASH,
// or the bytes of the symbol tables, tell whether a module is a runtime (Object.Defines). Calls are
// searched for in the code's bytes, on all cores, in pieces that fit into the cores' caches
// (Object.Branches). Mapping the code instead of reading it gains nothing: filling the page table
// costs as much as copying. Plans are made while the kernel verifies the BPF programs (ReadAhead).
//
// # A budget
//
// With --max-overhead, the probes of a file are attached by one link for each group of constructs
// (links.Groups). So the probes of each group can be removed and placed again. Package budget sums
// up what each thread's hits cost as the records are read, and decides every 5 to 50 ms which
// groups are probed. budget.go carries out the decisions, on a thread of high priority. The engines
// are told of each change, with its time, before any later event is fed.
//
// # Single executions
//
// With --timeline, each process's engine tells its spans to a timeline.Recorder (timeline.go). With
// --when, a trigger.Sink stands between the two. An execution that fulfils a condition has a
// snapshot written by another goroutine, because the engine must not wait (collect/triggered). With
// --sched, the kernel side writes when a thread of the program was off its core (sched.go).
//
// # One goroutine feeds all engines
//
// Reading a record in the ring, decoding it and feeding it to the engine takes some 50 ns together.
// This keeps up with a dozen cores that do nothing but reach probes. Besides, the constructs that
// are executed most often are folded in the kernel side. Several goroutines would have to agree on
// the order of a thread's records, samples and calls, and on the tables of files that processes
// share. The reader's thread has a higher priority than the program's threads (package urgent). The
// reader never waits for the user: a terminal may be held, so another goroutine writes the messages
// (package voice).
//
// The report says so if processes start faster than we read their starts, or if a map of the kernel
// side is full.
//
// # The parts of a measurement, and their locks
//
// A Measurement consists of four parts. Each part has a lock named mu, and uses only the parts
// above it in this table.
//
//	part      does                                      its mu protects
//	reader    reads the rings, feeds the engines        its fields, and of each process the struct
//	                                                    reading; of each program refused,
//	                                                    troubles, done; limiter.ledger and worst
//	placer    places and removes probes                 its fields, and of each process the struct
//	                                                    placement; the links.Groups
//	profiles  makes profiles, one at a time             the debug files that profiles share
//	lives     acts on forks, programs, libraries, ends  its fields; of each program over and
//	                                                    userChecked
//
// There are five small locks more. programs.mu guards the list of programs, user.Regions.mu the
// regions of the user's own, and triggered.Snapshots.mu the snapshots that --when asks for. The
// lock of links.Shared guards the probes that are placed for all processes, and the count of their
// users. launch.Guard has a lock, too.
//
// Locks are taken in this order, and any of them may be left out:
//
//	asking -> lives.mu -> placer.mu -> reader.mu
//	                      placer.mu -> links.Shared
//	asking -> profiles.mu -> reader.mu
//
// Measurement.asking is held for reading by Pause, Resume, Dump, DumpAll and Profiles, which other
// runs of the tool may ask for at any time. Close takes asking, so that the rings stay mapped until
// these methods have returned. Measures does not take asking: a dump asks it, and would wait for
// itself behind Close.
//
// No code holds profiles.mu together with lives.mu or placer.mu. None of the parts' locks is taken
// while reader.mu or one of the small locks is held. limiter.removed is written with placer.mu and
// reader.mu held, so either lock is enough to read it. What is in common does not change once the
// measurement has started, and needs no lock.
//
// A process that was taken out of reader.procs (retire) belongs to the goroutine that took it out.
// That goroutine makes the profile (finish) without lives.mu, placer.mu, or, for most of the time,
// reader.mu. The caches of the whole tool have locks of their own (symbols.Memo). No other lock is
// taken while one of these is held.
package collect
