// Package urgent runs functions on threads with a higher priority than other programs.
package urgent

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Do calls functions at the same time, each on a thread of its own, and returns when all are
// done. The threads have priority over the program's threads, if we may set that. Code that makes
// room for records or keeps a budget must not wait for a core until a storm is over. (A thread of
// Go's runtime wakes these threads, and has to wait like any other.)
func Do(fs ...func()) {
	const first = -20
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			_ = unix.Setpriority(unix.PRIO_PROCESS, 0, first)
			f()
		})
	}
	wg.Wait()
}
