// Package outlook says in words what a report on a process, or on any program here, would show:
// exactly, approximately or not at all. It also says what measuring would cost. Nothing is measured
// for that.
package outlook
