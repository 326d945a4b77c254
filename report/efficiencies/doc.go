// Package efficiencies writes the efficiency of a run. The formats are text, tables (CSV), JSON,
// and the file that TALP writes, the profiler of the library DLB. It computes no figures of its
// own.
package efficiencies
