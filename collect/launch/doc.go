// Package launch starts programs and finds programs that others start. Prepare makes a process that
// waits at a gate, so that it can be followed before it executes the program. The Guard starts the
// guardian, a second process of ours that continues stopped programs where the kernel side cannot
// (see package collect). RankOf and JobProcesses tell which processes a launcher (mpirun, srun) has
// started as ranks. EndingOf tells how a process ended.
package launch
