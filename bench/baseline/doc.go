// Package baseline has the probes that the benchmark compares ours with: programs that do nothing,
// placed where another tool has placed its own. Their cost is what the kernel itself takes for a
// hit.
package baseline
