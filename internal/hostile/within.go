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

	"golang.org/x/sys/unix"
)

// What one input may take: processor time, which other programs do not lengthen, and memory in
// bytes. MostWait bounds what an input waits for.
const (
	MostTime   = 10 * time.Second
	MostWait   = time.Minute
	MostMemory = 1 << 30
)

// began is when the input that is being looked at was given, in ns since 1970; 0: none is. used is
// the processor time that the process had taken then, in ns, held what it held, in bytes.
var began, used, held atomic.Int64

var watched sync.Once

// Within calls a function with one input. If that takes too long or too much memory, the process
// ends with the stacks of its goroutines: a fuzzer then keeps the input.
func Within(f func()) {
	watched.Do(func() {
		debug.SetMemoryLimit(MostMemory / 4 * 3) // garbage does not count
		go watch()
	})
	held.Store(heap())
	used.Store(int64(ProcessorTime()))
	began.Store(time.Now().UnixNano())
	defer began.Store(0)
	f()
}

// ProcessorTime is what this process has taken so far. A time limit of a test is one of this time:
// a busy machine does not decide it.
func ProcessorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // fails for no process of its own
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
		took, waited := ProcessorTime()-time.Duration(used.Load()), time.Since(time.Unix(0, since))
		if bytes := heap() - held.Load(); took > MostTime || waited > MostWait || bytes > MostMemory {
			fmt.Fprintf(os.Stderr, "an input takes %s of processor time, %s in all and %d MiB, more than %s, %s or %d MiB\n",
				took, waited, bytes>>20, MostTime, MostWait, MostMemory>>20)
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
			os.Exit(2)
		}
	}
}
