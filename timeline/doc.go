// Package timeline records single executions of regions, and reads them again. A profile says how
// much; a timeline says when, and in what order.
//
//   - span.go: an execution, a call, a fold, a gap; what the engine tells (Sink)
//   - dictionary.go: which region and thread the numbers in spans mean
//   - code.go: spans as bytes; chunk.go: bytes of one thread that can be read by themselves
//   - counts.go: hardware counters of spans
//   - block.go: the file
//   - recorder.go: the engine's sink: lanes of spans; unobserved.go: the gaps that the engine tells
//   - packer.go: compresses chunks in a goroutine of its own
//   - plan.go: what to keep; shelf.go: the chunks that are kept in memory; output.go:
//     the file's end
//   - longest.go, keeper.go, stretch.go: the longest executions, and what was under way meanwhile
//   - reader.go, merge.go: the spans of a thread, in order of their starts
//
// # Times
//
// All times are of the engine's clock: CLOCK_MONOTONIC in ns, less the time for which the process
// was stopped to place probes. Dictionary.Stops tells these stops.
//
// # Order
//
// The engine tells a span when it ends, so children come before parents. The spans of a team come
// when its last thread has been read, up to a second later. They have lanes of their own, so that a
// chunk covers a short time. The reader sorts the chunks by their earliest start. It holds only the
// chunks that overlap the present moment: about as many as spans are nested.
//
// # Loss
//
// Nothing is dropped silently. Each gap has its time range, the number of its spans, and its
// reason. The reasons are the spans' age, a cap, or a packer or disk that was too slow (Why).
package timeline
