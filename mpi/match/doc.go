// Package match finds out which MPI calls of different ranks belong together, and how long ranks
// waited for each other in them. It is pure: calls of ranks in, waits out.
//
// It takes a log of calls of each rank. Logs are read together, by the calls' beginnings, so that
// only calls that still wait for a partner are kept. Times of one machine are of one clock. For
// ranks on several machines, the caller says how their clocks compare (Clocks). Each wait for a
// rank of another machine has a bound, and a wait that may not have been is left out. What must
// have happened in which order (Orders) does not need a common clock.
//
// Messages: MPI keeps the order of messages between two ranks with one communicator and tag. So the
// k-th message sent is the k-th received, in the order in which sends and receives were begun.
// Collective operations: all members of a communicator call its collective operations in one order.
// So the k-th of one rank is the k-th of every member.
//
// A log may stop before its rank did: it was full, or records were lost. It is the beginning of
// what the rank did, so numbers stay right. Nothing is guessed: what may have taken any message (a
// receive from any source that did not tell the source) ends the matching of all messages that it
// may have taken. Result counts what was matched, and what was not and why.
//
// The waits are those of EXPERT 3.0 and Scalasca 2.5. E and L are the times at which a rank enters
// and leaves a call. A nonblocking operation waits in the call that completes it: E is then that
// call's, but the operation itself is there for others from its beginning on.
package match
