package main

import (
	"runtime/debug"
	"sync"
)

// startMemory bounds the memory, in bytes, that the start of a measurement may take without garbage
// collection.
const startMemory = 512 << 20

// hurry switches garbage collection off until started is called, because the collection would take
// a tenth of the start of a measurement. If the tool takes startMemory by then, garbage is
// collected all the same.
func hurry() (started func()) {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, startMemory))
	return sync.OnceFunc(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}
