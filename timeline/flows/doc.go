// Package flows finds flows in recorded timelines: messages, handed-over locks, and tasks, which
// lead from one thread to another. It tells a flow only if the records prove both of its ends.
//
//   - find.go: reads the timelines once, and tells where each flow begins and ends
//   - messages.go: which receive takes which message, by package match
//   - ranks.go: the sends and receives of a rank, and why some cannot be told
//   - locks.go: which execution gets a lock from which other execution
//   - tasks.go: which tasks were both created and executed
//
// # Messages
//
// MPI delivers messages of one sender, receiver, communicator and tag in the order of the sends
// (MPI 4.0, 3.5). So the n-th receive takes the n-th message, if all sends and receives since the
// program's begin are known. A receive from any source, or with any tag, counts if only one sender
// and tag can be meant. From the first receive with several possible senders or tags on, nothing is
// told. Only messages in MPI_COMM_WORLD are told, and only receives that return with their message.
package flows
