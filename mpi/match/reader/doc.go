// Package reader finds out which MPI calls of different ranks belong together, and how long ranks
// waited for each other in them. It is pure: calls of ranks in, waits out.
//
// The input is a log of calls for each rank. Logs are read together, by the calls' beginnings, so
// that only calls that still wait for a partner are kept. All ranks of a machine have one clock.
// For ranks on several machines, the caller says how the clocks compare (Clocks). Each wait for a
// rank of another machine has a bound. A wait whose bound includes 0 is left out. Orders, which
// tells the certain order of events, needs no common clock.
//
// Messages: MPI keeps the order of messages between two ranks with one communicator and tag. So the
// k-th message sent is the k-th received, in the order in which sends and receives were begun.
// Collective operations: all members of a communicator call its collective operations in one order.
// So the k-th of one rank is the k-th of every member.
//
// A log may end early, because it was full or records were lost. The calls before its end are
// complete, so the k-th stays the k-th. Nothing is guessed. A nonblocking receive from any source
// tells the source when it is complete. Until then, later receives of such messages are held. A
// receive may never tell: then no later message that it may have taken is matched, until all
// messages sent so far have been received. Result counts the calls that were matched, and those
// that were not, by reason.
//
// Ranks that were attached to while they ran lack their first calls. Align says with which
// collective operation on MPI_COMM_WORLD each log begins, if that is certain. Messages on
// communicators that are older than the attachment are not matched.
//
// The waits are those of EXPERT 3.0 and Scalasca 2.5. E and L are the times at which a rank enters
// and leaves a call. A rank waits for a nonblocking operation in the call that completes it, so E
// is that call's. For the other ranks, the operation has begun when it was called.
package reader
