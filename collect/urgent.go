package collect

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// urgently calls functions at once, each on a thread of its own that goes before
// the program's, if we may have such, and returns when all are done. What makes
// room for records, or keeps a budget, must not wait for a core until the storm is
// over. (What wakes it is a thread of Go's, which waits as any other.)
func urgently(fs ...func()) {
	const urgent = -20
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			_ = unix.Setpriority(unix.PRIO_PROCESS, 0, urgent)
			f()
		})
	}
	wg.Wait()
}
