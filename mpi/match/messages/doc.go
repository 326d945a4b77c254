// Package messages finds out which send belongs to which receive, and who waited for whom in them.
// MPI keeps the order of messages between two ranks with one communicator and tag. So the k-th
// message sent is the k-th received, in the order in which sends and receives were begun.
//
//   - room.go: takes the calls of ranks
//   - side.go: a send or a receive
//   - pairs.go: the two sides of a message; how long one waited for the other
//   - inbox.go, queue.go: the sends to a rank, and its receives, that have no partner yet
//   - outbox.go: sends of a rank that have no partner yet
//   - held.go: receives that must wait until an earlier one tells what it received
//   - wild.go: receives from any source, or of any tag
//   - probes.go: MPI_Probe
//   - taken.go: MPI_Mprobe and MPI_Mrecv
//   - older.go: messages of ranks that were attached to
//
// The state has layers, and each layer uses only the layers before it: pairs, boxes, line, Room.
package messages
