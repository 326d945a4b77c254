// Package budget keeps what the probes cost each thread of a program below a share of the thread's
// time. The Ledger sums up the costs of hits, by thread and by group of constructs (event.Group).
// From these sums the Governor decides which groups are probed. The package is pure: package
// collect removes and places the probes.
package budget
