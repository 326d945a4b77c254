// Package list prints the performance counters of a machine, as `ompp-attach counters` shows them.
package list
