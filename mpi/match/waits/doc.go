// Package waits takes the waits that the rooms of the matcher find, and adds them up by property
// and place (Ledger).
//
// A rank may wait for several operations in one call, as in MPI_Waitall (Waiter). Only the longest
// of these waits (One) counts. Waits for ranks of other machines have bounds. If a bound includes
// 0, the wait is left out.
//
//   - stay.go: a rank's time in a call; which of several ranks came last
//   - one.go: a wait for one operation
//   - waiter.go: the call in which a rank waits, for one operation or several
//   - ledger.go, sums.go: adds up the waits of calls
//   - late.go: messages that were received in the wrong order
package waits
