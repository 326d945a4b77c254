// Package calibration measures what a probe hit costs its thread on this machine. It measures on a
// small program of its own, never on the measured program.
//
// It makes a small static program in memory, probes it with the same BPF programs that the
// measurement uses, and lets it time itself. The result is in nanoseconds for each kind of hit
// (event.Probe), before and after the hit's time stamp. The records of that program go to a ring of
// their own (`ring_of`, bpf/ring.h). The program folds even while other programs are held from
// folding. So calibration runs while files are read and the probes of a running process are placed.
// Engines must know the costs before their first event, so the reader sets records aside until then
// (bpf/aside.go), to keep room in the rings. A launched program is started only after calibration,
// which would take a processor from it.
package calibration
