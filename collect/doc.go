// Package collect runs a measurement: it follows processes, places probes in the runtimes that they map,
// reads the records, and feeds the engine of each process.
//
// # Stopping and continuing
//
// A launched program, and each of its children, must not run on before its probes are placed. The kernel
// side sends it SIGSTOP, and first puts its PID and the time into the map `stopped`. collect places the
// probes and sends SIGCONT. Probes vanish with our file descriptors. `attach` stops nobody.
//
// Most programs of a tree use no runtime, and must not wait for us. So a process is stopped where its
// dynamic loader has loaded libraries, before any of their code runs, and only if one of the files may
// hold something to be measured (plain.go, loader.go, bpf/files.h). The loader is watched once per file,
// in all processes, until the measurement ends: to close a link takes 20 to 75 ms. The kernel side walks
// the list of libraries, and finds each file in the map `files`, by inode, size and time of its change.
// We are asked for a file once. A program is stopped at its exec only if its loader is not watched yet,
// and if it is static and not known. A process that is not sampled yet is sampled after 250 ms.
// The kernel side needs bpf_find_vma (Linux 5.17); without it, every program is stopped.
//
// What stops us must not hold up others. From Linux 6.13 on, the kernel side ends stops by itself
// (bpf/release.h): all when our last thread exits, in whose exit its program still runs; each after 5 s
// without a sign of life from us, and after 60 s in any case. Who was let go on is told in the report.
// On older kernels the guardian does it, a second process in a session of its own that holds the map
// `stopped`. When its pipe to us ends without a goodbye, it continues whoever is in the map, and
// whoever has been there for 60 s. It is started before the first program that may be stopped, and
// replaced if it dies.
//
// A debugger's breakpoints and our probes do not know of each other (debugger.go). A probe that goes
// while a breakpoint is in its place leaves a trap that kills the program, so probes stay as long as a
// debugger does.
//
// When the launched program ends, following ends first and whoever is stopped goes on. Then all probes
// go. Only then are places looked up. A vfork'd child shares its parent's memory and is not stopped
// before it execs. Not stopped either are
//   - a program that has a handler for SIGCONT, when it loads libraries: Open MPI's mpirun tells its
//     ranks of SIGCONT;
//   - a program whose parent would stop itself too (`stop_too`: su, sudo);
//   - another user's, if we may not send it SIGCONT.
//
// # One collector measures the ranks of a node
//
// `run` looks at its environment for a rank's number (rank.go). A rank's tool is thin
// (cmd/ompp-attach/rank.go): it launches the program, hands the program's number to the collector by a
// unix socket, passes on signals, waits until the files are written, and ends as the program did. Who
// comes first on a node starts the collector (cmd/ompp-attach/wire.go): a lock decides, and the listening
// socket exists before the process that serves it. The collector is a session of its own with no file of
// the launcher's open, since launchers kill by process group and wait for their pipes' ends. If a tool is
// killed, the collector follows the program by its pidfd. If the collector is killed, the kernel side
// or the guardian continues whoever was stopped.
//
// A Measurement has several Programs: processes launched or attached to, each with what it starts. A
// program's number is part of the flags by which the kernel side follows processes, and children inherit
// it. Program.End ends one while the others go on.
//
// Ranks share probes (share.go). The kernel asks each link on a probed instruction at every hit, also
// those for other processes, and arms a return probe for each session. So a file's probes are placed once
// for all processes, with a mark in the attach cookie, and the BPF program answers only in processes of
// the map `sharing`. A resumed process has probes of its own.
//
// # Attaching fast
//
// A process may map hundreds of libraries and a program of hundreds of megabytes, and what the tool uses
// of the processors the program lacks. Modules are opened several at a time. DT_GNU_HASH, or the bytes of
// the symbol tables, tell whether a module is a runtime (Object.Defines). Calls are looked for in the
// code's bytes, by all cores, in pieces that remain in their caches (Object.Branches). To map the code
// instead of reading it saves nothing: the page table costs what the copy does. Plans are made while the
// kernel verifies the BPF programs (LookAhead).
//
// # A budget
//
// With --max-overhead a file's probes are attached by one link per kind of construct (kinds.go), so that
// each kind can go and come back. governor.go, which is pure, decides that from what each thread's hits
// have cost. budget.go reads the hits' kinds with the records every 5 to 20 ms, on a thread of high
// priority. The engine is told of each change with its time before any later event is fed.
//
// # One goroutine takes everything
//
// Reading a ring in place, decoding and the engine take some 50 ns an event together. No dozen of cores
// that do nothing but report keep up with that, and what storms most is folded. Several goroutines would
// have to agree on the order of a thread's records, samples and calls, and on the tables of files that
// processes share. The reader's thread goes before the program's (urgent.go). It never waits for the user:
// messages are written by another goroutine (cmd/ompp-attach/voice.go), since a terminal may be held.
//
// If starts of processes come faster than they are read, or a map of the kernel side is full, the report
// says so.
//
// # Locks
//
// `living` (lives and ends) is taken before `scanning` (plans, placed probes), and that before `mu`
// (processes, engines). A process that was taken out of `procs` belongs to whoever took it, who finishes
// its profile without a lock.
package collect
