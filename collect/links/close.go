// Package links holds placed probes: the probes that processes share, and the probes of a file by
// group of constructs. It bounds how long their removal may take.
package links

import (
	"io"
	"sync"
	"time"
)

// closeLimit bounds how long the results wait for the probes to go. The kernel removes the probes
// at once, but close returns only when no thread is inside a return probe any more
// (synchronize_srcu). Another tool's probes on the same library can delay that by seconds.
const closeLimit = time.Second

// Close removes probes. It waits for that for a second at most. All links are closed at one time,
// which lets them share one wait in the kernel.
func Close(all []io.Closer) {
	if len(all) == 0 {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var wg sync.WaitGroup
		for _, l := range all {
			wg.Go(func() { l.Close() })
		}
		wg.Wait()
	}()
	select {
	case <-closed:
	case <-time.After(closeLimit):
	}
}
