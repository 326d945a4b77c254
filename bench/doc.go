// Command bench measures what profiling costs the target, how fast events are
// taken, and how long attaching lasts, and writes it down (make bench). The
// ways of observing a target take turns on one running process, so that what
// else the machine does falls on all of them alike.
package main
