// Package windows finds the waits in calls on RMA windows: of epochs (Epochs) and of locks (Locks).
// MPI_Win_fence and the calls that make or free a window are collective operations.
//
// Epochs of general active target synchronisation: a target opens an exposure epoch (MPI_Win_post)
// for a group of origins, and waits for its end (MPI_Win_wait). An origin opens an access epoch
// (MPI_Win_start) for a group of targets, and closes it (MPI_Win_complete). Between an origin and a
// target, on one window, the k-th access epoch belongs to the k-th exposure epoch.
//
// A test (MPI_Win_test) never waits. If one ended an exposure epoch, the target opens the next one
// without a wait.
//
// Locks: MPI_Win_lock of one rank waits while another rank holds the target's lock, if one of both
// locks is exclusive. A lock is held until the holder calls MPI_Win_unlock. So a call of
// MPI_Win_lock that lasted beyond the beginning of such an unlock had to wait until then. Waits are
// found for windows of ranks on one machine only.
//
// Libraries may take the lock later, in MPI_Win_flush or MPI_Win_unlock. Then MPI_Win_lock is
// short. It is not known of the other calls which rank had the lock first: these calls have no
// wait.
package windows
