// Package efficiencies writes the efficiency of a run: as text, as tables (CSV), as JSON, and as
// the file that TALP, the profiler of the library DLB, writes. It computes no figures of its own.
package efficiencies
