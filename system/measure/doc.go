// Package measure measures a system profile with the user's own compiler, OpenMP runtime and MPI.
//
// The measuring programs are C sources of ours in this package (programs/), written after the
// methods of EPCC's OpenMP benchmarks and of SKaMPI. Measure compiles them, runs them once per
// number of threads or processes, and reads a line of samples per figure from their output. What
// cannot be compiled or run is left out of the profile, with the reason.
package measure
