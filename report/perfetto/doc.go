// Package perfetto writes timelines in Perfetto's trace format, which ui.perfetto.dev and
// Perfetto's trace processor open (protos/perfetto/trace of github.com/google/perfetto).
//
// A process is a rank, or what was measured. Each thread of the operating system has a track. A
// slice is one execution of a region, and slices nest as regions do. Waiting at a region's edges
// has slices of its own: startup, waiting to enter, implicit barrier, shutdown. Flows lead from a
// task's creation to its execution, from a send to its receive,
// and from who frees a lock to who gets it.
//
//   - trace.go: what is written; process.go: a process with its threads
//   - thread.go: a thread's spans as slices; parts.go: the slices within a span
//   - working.go: how many threads work, over time; rates.go: hardware counters over time
//   - flows.go: where flows begin and end
//   - packet.go: the messages of the format
//
// Memory does not grow with the number of spans: a timeline is read and written span by span.
package perfetto
