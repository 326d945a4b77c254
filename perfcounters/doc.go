// Package perfcounters knows the counters of the kernel's perf events. It knows their names, how a
// name becomes an event, which of them this machine has, and formulas over them. It imports no
// package of the project.
package perfcounters
