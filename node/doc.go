// Package node brings the ranks of a job on one node together. One process measures them: the
// collector. If each rank's tool probed the MPI library, each rank would pay for the probes of all
// tools. The first tool of a job on a node starts the collector. Each tool hands over its program
// by a unix socket in a directory that only the user can enter. Both sides write JSON values, one
// after the other. Both must be one build, so the build's version is part of the socket's name. So
// is the kernel's boot id, as nodes may share the directory's file system.
package node
