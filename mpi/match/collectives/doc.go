// Package collectives matches calls of collective operations, and finds who waited for whom in
// them. All members of a communicator call its collective operations in one order. So the k-th call
// of one rank belongs to the k-th call of every member.
//
//   - order.go: the order of a communicator's operations; why calls cannot be matched
//   - collectives.go: puts calls into instances
//   - instance.go: an instance: the calls that belong together, and their waits
//   - camps.go: the members of an instance by machine; who needs whom
//   - tell.go: tells what calls had to wait for, and certain orders of events
//   - persistent.go: operations that MPI_Start begins
package collectives
