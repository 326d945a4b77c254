// Package target looks at processes from outside, and places no probes. It tells whether a process
// can be measured, and if not, why (Check, CheckRuntime, NoRuntime). It tells what a file that a
// process maps may hold (MayBeRuntime, MayBeMPI), what `check` shows of a process (Inspect), and
// what /proc tells: threads, CPU times, stacks, memory.
package target
