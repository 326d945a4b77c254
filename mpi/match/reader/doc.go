// Package reader reads the logs of all ranks together, and gives each call to the room that matches
// it (run.dispatch).
//
// Logs are read by the calls' beginnings, so that only calls that still wait for a partner are
// kept. All ranks of a machine have one clock. For ranks on several machines, the caller says how
// the clocks compare (match.Clocks). Each wait for a rank of another machine has a bound. If a
// bound includes 0, the wait is left out. Orders, which tells the certain order of events, needs
// no common clock.
//
// A log may end early, because it was full or records were lost. The calls before its end are
// complete, so the k-th stays the k-th. Nothing is guessed. A nonblocking receive from any source
// tells the source when it is complete. Until then, later receives of such messages are held. A
// receive may never tell: then no later message that it may have taken is matched, until all
// messages sent so far have been received. The result counts the calls that were matched, and the
// others by reason.
//
// Ranks that were attached to while they ran lack their first calls. Package align says with which
// collective operation on MPI_COMM_WORLD each log begins, if that is certain. CountBack counts
// messages on MPI_COMM_WORLD from the end. Messages on other communicators that are older than the
// attachment are not matched.
//
//   - reader.go: for what logs can be read
//   - run.go: reads them; which room takes a call
//   - cursors.go: the order in which calls are read
//   - requests.go: which operation a request is of
package reader
