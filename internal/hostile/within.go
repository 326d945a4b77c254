// Package hostile is a test helper: what any one input may take of time and memory,
// and files that are damaged where it matters.
package hostile

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
)

// What one input may take.
const (
	MostTime   = 10 * time.Second
	MostMemory = 1 << 30
)

// began is when the input that is being looked at was given, in ns since 1970; 0: none is. held is
// what the process held then, in bytes.
var began, held atomic.Int64

var watched sync.Once

// Within calls a function with one input. If that takes too long or too much memory, the process
// ends with the stacks of its goroutines: a fuzzer then keeps the input.
func Within(f func()) {
	watched.Do(func() {
		debug.SetMemoryLimit(MostMemory / 4 * 3) // garbage does not count
		go watch()
	})
	held.Store(heap())
	began.Store(time.Now().UnixNano())
	defer began.Store(0)
	f()
}

func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

func watch() {
	for range time.Tick(20 * time.Millisecond) {
		since := began.Load()
		if since == 0 {
			continue
		}
		took := time.Since(time.Unix(0, since))
		if bytes := heap() - held.Load(); took > MostTime || bytes > MostMemory {
			fmt.Fprintf(os.Stderr, "an input takes %s and %d MiB, more than %s or %d MiB\n", took, bytes>>20, MostTime, MostMemory>>20)
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
			os.Exit(2)
		}
	}
}
