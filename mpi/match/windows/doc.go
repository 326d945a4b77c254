// Package windows finds the waits in calls on RMA windows: of epochs (Epochs) and of locks (Locks).
// MPI_Win_fence and the calls that make or free a window are collective operations.
//
// Epochs of general active target synchronisation: a target opens an exposure epoch (MPI_Win_post)
// for a group of origins, and waits for its end (MPI_Win_wait). An origin opens an access epoch
// (MPI_Win_start) for a group of targets, and closes it (MPI_Win_complete). Between an origin and a
// target, on one window, the k-th access epoch belongs to the k-th exposure epoch.
//
// MPI_Win_test never waits. If a test has ended an exposure epoch, the target opens the next epoch
// without a wait.
//
// Locks: MPI_Win_lock waits while another rank holds the target's lock, if one of the two locks is
// exclusive. The holder has the lock until it calls MPI_Win_unlock. So if MPI_Win_lock lasted
// beyond the beginning of such an unlock, it had to wait until then. Such waits are found only if
// all ranks of a window are on one machine.
//
// Libraries may take the lock later, in MPI_Win_flush or MPI_Win_unlock. Then MPI_Win_lock is
// short. For the other calls, it is not known which rank had the lock first. So these calls have no
// wait.
package windows
