// Package counting opens the performance counters of a measurement, and scales what they counted.
// The kernel side reads them at each event (package bpf).
package counting
