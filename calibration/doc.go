// Package calibration measures what a probe hit costs the thread that is hit, on this machine: on a small
// program of its own, never on the measured one.
//
// It makes a small static program in memory, probes it through the very BPF programs that are loaded, and
// lets it time itself: nanoseconds per kind of hit (event.Probe), before and after the hit's time stamp.
// The program's records go to a ring of their own (`ring_of`, bpf/ring.h), and what holds others from
// folding does not hold it. So calibration runs while files are read and the probes of a running process
// are placed. Engines must know the costs before their first event: until then the reader sets aside what
// it finds (bpf/aside.go), so that the rings keep room. A launched program waits for calibration's end,
// since calibration would take a processor from it.
package calibration
