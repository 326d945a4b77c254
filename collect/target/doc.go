// Package target looks at processes from outside, and places no probes. It tells whether a process
// can be measured, and if not, why (Check, CheckRuntime, NoRuntime). It tells what a file that a
// process maps may hold (MayBeRuntime, MayBeMPI), and what `check` shows of a process (Inspect).
// From /proc it tells threads, CPU times, stacks and memory.
package target
