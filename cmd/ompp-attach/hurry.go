package main

import (
	"runtime/debug"
	"sync"
)

// startMemory bounds what the start of a measurement may take.
const startMemory = 512 << 20

// hurry lets the garbage collector wait, which would take a tenth of the start
// of a measurement, until the function that it returns is called.
func hurry() (started func()) {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, startMemory))
	return sync.OnceFunc(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}
