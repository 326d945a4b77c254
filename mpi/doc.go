// Package mpi knows the operations of MPI: their names, the positions of their arguments, and how
// many bytes a call sends and receives. It holds tables and arithmetic only. It knows nothing of a
// process, and imports no package of the project.
package mpi
