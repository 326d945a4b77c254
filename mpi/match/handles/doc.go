// Package handles says which requests or messages the handles of a rank name at a time. A library
// gives out a handle again as soon as the handle is free. A call that takes a handle frees it
// before the call has returned. So another thread's call may be given the handle, although it began
// before the call that takes the handle.
//
// Calls come in the order of their beginnings. A call that gives a handle counts from its end on. A
// call that takes a handle takes what the handle named when the call began.
package handles
