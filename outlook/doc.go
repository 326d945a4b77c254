// Package outlook says what a report on a process, or on any program of this machine, would show
// exactly, approximately or not at all. It also says what measuring would cost. It measures nothing
// itself.
package outlook
