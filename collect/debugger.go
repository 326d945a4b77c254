package collect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// A debugger writes breakpoints into the same code as the kernel writes its probes, and each takes
// the other's breakpoint for an instruction of the program. A debugger's breakpoint at a probed
// instruction saves the probe's breakpoint. If the debugger puts that back after the probe has
// gone, it is a trap that nobody handles, and the process dies of SIGTRAP. It does no harm while
// the probe is there. So probes stay until the debugger has gone.

// tracer is the process that debugs or traces another one.
type tracer struct {
	pid  int
	name string
}

// tracerOf returns the tracer of a process, or the zero value if it has none. strace counts as
// none: it sets no breakpoints.
func tracerOf(pid int) tracer {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return tracer{}
	}
	_, rest, _ := bytes.Cut(b, []byte("TracerPid:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	t := tracer{}
	if t.pid, err = strconv.Atoi(string(line)); err != nil || t.pid == 0 {
		return tracer{}
	}
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", t.pid))
	if t.name = strings.TrimSpace(string(name)); t.name == "strace" {
		return tracer{}
	}
	return t
}

// debuggersEvery is how often the processes are checked for debuggers.
const debuggersEvery = time.Second

// watchDebuggers warns of debuggers that were attached since the last check; living is held.
func (m *Measurement) watchDebuggers() {
	if time.Since(m.debuggersLooked) < debuggersEvery {
		return
	}
	m.debuggersLooked = time.Now()
	m.mu.Lock()
	var pids []int
	for pid, p := range m.procs {
		if !p.debugged {
			pids = append(pids, int(pid))
		}
	}
	m.mu.Unlock()
	for _, pid := range pids {
		m.warnOfDebugger(pid)
	}
}

// warnOfDebugger warns, once for each process, if the process is being debugged.
func (m *Measurement) warnOfDebugger(pid int) {
	t := tracerOf(pid)
	if t.pid == 0 {
		return
	}
	s := fmt.Sprintf("Process %d is being debugged by %s (process %d): where a breakpoint and a probe are in one place, the program may not stop there, and probe hits may be missing; a breakpoint that outlives the probes kills the program (SIGTRAP).",
		pid, t.name, t.pid)
	m.mu.Lock()
	p := m.procs[uint32(pid)]
	if p != nil && !p.debugged {
		p.debugged = true
		p.warnOnce(s)
	} else {
		p = nil
	}
	say := m.say
	m.mu.Unlock()
	if p != nil && say != nil {
		say(s)
	}
}

// heldProbes are the probes of a process that is still being debugged after its measurement.
type heldProbes struct {
	pid   int
	links []io.Closer
}

// Held returns a sentence that says for which processes probes stay after the measurement, because
// of a debugger. It returns "" if there are none.
func (m *Measurement) Held() string {
	m.scanning.Lock()
	defer m.scanning.Unlock()
	var who []string
	for _, h := range m.held {
		if t := tracerOf(h.pid); t.pid != 0 {
			who = append(who, fmt.Sprintf("%d (by %s, process %d)", h.pid, t.name, t.pid))
		}
	}
	if len(who) == 0 {
		return ""
	}
	return fmt.Sprintf("probes stay until the debugger has left process %s: without them, breakpoints that it set meanwhile may kill the program; Ctrl-C takes them away now", strings.Join(who, ", "))
}

// AwaitDebuggers waits until no debugger keeps probes in place any more, or until ctx ends.
func (m *Measurement) AwaitDebuggers(ctx context.Context) {
	for ctx.Err() == nil && m.Held() != "" {
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// takeHeld returns the links of the probes that stayed because of a debugger, for the caller to
// close.
func (m *Measurement) takeHeld() (links []io.Closer) {
	m.scanning.Lock()
	defer m.scanning.Unlock()
	for _, h := range m.held {
		links = append(links, h.links...)
	}
	m.held = nil
	return links
}
