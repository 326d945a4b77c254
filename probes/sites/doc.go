// Package sites finds the calls of libomp's static loops in the code of a program or library.
//
// libomp has one function that begins static loops and one that ends them. Probes in these are hit
// by every loop. But a `parallel for` begins and ends with its region, so hits of its loop tell
// nothing. Probes at the calls can leave such loops out, if all calls are known. Closed tells
// whether a process's files make calls that nobody can find. Nor is a probe needed at the end of a
// loop that the thread's next event tells (next.go).
package sites
