// Package handles derives, from an MPI library's own accessors, how properties of handles are read
// from memory: a datatype's size, a communicator's size and rank. It reads the file only, and
// executes MPI_Type_size and similar functions symbolically. The handle is an unknown. Branches
// that depend on unknown memory are followed both ways, and ways into error handling are dropped.
// What is left is one formula for each class of handles.
package handles
