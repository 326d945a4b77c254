// Package ledger keeps the accounts of the regions that threads have open. An account carries a
// region's time and everything that is measured along with it. That is the part of the time that
// probes took, the part without a core, and hardware counters. Each operation (hand an account up
// to the region around, disown it, let it stand still for a task, ...) does all of them.
//
// # Cost of the measurement
//
// A probe hit takes time of its thread: a part before the time stamp that the hit reports, the rest
// after it. Between two events of a thread, the probes therefore take the rest of the earlier hit
// and the first part of the later hit. That time belongs to the phase of the region that was
// innermost in between, and to the regions around it.
//
// # Time without a core
//
// A thread that was ready to run and had no core reports that time with its next hit
// (event.NoCore). It is charged in the same way.
//
// # Counters
//
// The advance of a thread's counters between two of its events belongs to the innermost region that
// was open in between. When that region ends, the advance goes to the regions around it. So a
// suspended task, or a region that an exception leaves, needs no clock of its own here. Its counts
// come from the time in which it was innermost, and from the regions entered from it.
package ledger
