// Package node brings the ranks of a job on one node together. One process measures all of them:
// the collector. If each rank's tool probed the MPI library, each rank would pay for the probes of
// all tools. The first tool of a job on a node starts the collector. Each tool hands its program
// over to the collector through a unix socket, in a directory that only the user can enter. Both
// sides write JSON values, one after the other. Both must come from one build of the tool, so the
// build's version is part of the socket's name. So is the kernel's boot id, because several nodes
// may share the directory's file system.
package node
