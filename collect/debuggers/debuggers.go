// Package debuggers keeps debuggers and probes apart.
//
// A debugger writes breakpoints into the same code as the kernel writes its probes. Each takes the
// other's breakpoint for an instruction of the program. Where a debugger sets a breakpoint at a
// probed instruction, it saves the probe's breakpoint, and later puts it back. If the probe has
// been removed meanwhile, nobody handles that breakpoint, and the process dies of SIGTRAP. While
// the probe is in place, the breakpoint does no harm. So probes stay until the debugger has gone.
package debuggers

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Every is how often processes are checked for debuggers.
const Every = time.Second

// Warning returns a sentence that warns of the debugger of a process. It returns "" if the process
// is not being debugged.
func Warning(pid int) string {
	t := tracerOf(pid)
	if t.pid == 0 {
		return ""
	}
	return fmt.Sprintf("Process %d is being debugged by %s (process %d). Set no breakpoints where probes are: the program may not stop at them, and hits of the probes may be missing. A breakpoint at a probe kills the program when the probe is removed (SIGTRAP).",
		pid, t.name, t.pid)
}

// Held are the probes of processes that are still being debugged after their measurement. The zero
// value holds none.
type Held struct {
	mu     sync.Mutex // guards probes
	probes []probes
}

// probes are the links of a process.
type probes struct {
	pid   int
	links []io.Closer
}

// Keep takes over the links of a process if it is being debugged, and tells whether it did. Links
// that were not taken over are the caller's to close.
func (h *Held) Keep(pid int, links []io.Closer) bool {
	if tracerOf(pid).pid == 0 {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.probes = append(h.probes, probes{pid, links})
	return true
}

// Sentence says for which processes probes stay, because a debugger is attached to them. It is ""
// if there are none.
func (h *Held) Sentence() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var who []string
	for _, p := range h.probes {
		if t := tracerOf(p.pid); t.pid != 0 {
			who = append(who, fmt.Sprintf("%d (by %s, process %d)", p.pid, t.name, t.pid))
		}
	}
	if len(who) == 0 {
		return ""
	}
	return fmt.Sprintf("probes stay until the debugger has left process %s: without them, breakpoints that it set meanwhile may kill the program; Ctrl-C takes them away now", strings.Join(who, ", "))
}

// Await waits until no debugger keeps probes in place any more, or until ctx ends.
func (h *Held) Await(ctx context.Context) {
	for ctx.Err() == nil && h.Sentence() != "" {
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Detach returns the links of all held probes, for the caller to close.
func (h *Held) Detach() (links []io.Closer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.probes {
		links = append(links, p.links...)
	}
	h.probes = nil
	return links
}
