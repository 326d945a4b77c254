// Package handles says what handles of requests, or of messages, name at a time. A library gives a
// handle again when it is free. It is free before the call has returned that takes it. So a call of
// another thread may be given the handle, and may have begun before the call that takes it.
//
// Calls come by their beginnings. So what a call gives counts from the call's end on. A call that
// takes a handle takes what the handle named at the call's beginning.
package handles
