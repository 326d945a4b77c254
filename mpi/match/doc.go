// Package match holds what the matcher of MPI calls takes, and what it finds. The matcher finds out
// which MPI calls of different ranks belong together, and how long ranks waited for each other in
// them. It is pure: calls of ranks in, waits out.
//
//   - log.go, call.go, operations.go: the log of calls of a rank (RankCalls), and what it must hold
//   - result.go: waits, their properties, and counts of calls (Result)
//   - backlog.go: messages of attached ranks that have only one side in the logs (Backlog)
//   - clocks.go, listener.go: what the caller says of clocks, and what it may be told
//
// The packages below this one are the matcher. A call comes to the reader, which gives it to one
// room. A room finds the waits in a call, and offers them to the ledger in waits.
//
//   - pattern: to which room an operation belongs
//   - reader: reads the logs of all ranks together; requests
//   - messages: the room of sends and receives
//   - collectives: the room of collective operations
//   - windows: the room of epochs and locks of RMA windows
//   - waits: the longest wait of a call, and sums of waits
//   - ranks: ranks, communicators, and how times of machines compare
//   - handles: what handles of requests and messages name
//   - align: with which operations the logs of attached ranks begin
//   - matchtest: calls and programs for tests
//
// The waits are those of EXPERT 3.0 and Scalasca 2.5. E and L are the times at which a rank enters
// and leaves a call. A rank waits for a nonblocking operation in the call that completes it, so E
// is that call's. For the other ranks, the operation has begun when it was called.
package match
