package collect

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"ompp-attach/collect/target"
)

// A debugger writes breakpoints into the same code as the kernel writes its probes, and each takes
// the other's breakpoint for an instruction of the program. A debugger's breakpoint at a probed
// instruction saves the probe's breakpoint. If the debugger puts that back after the probe has
// gone, it is a trap that nobody handles, and the process dies of SIGTRAP. It does no harm while
// the probe is there. So probes stay until the debugger has gone.

// debuggersEvery is how often the processes are checked for debuggers.
const debuggersEvery = time.Second

// checkDebuggers warns of debuggers that were attached since the last check; lives.mu is held.
func (lv *lives) checkDebuggers() {
	if time.Since(lv.debuggersChecked) < debuggersEvery {
		return
	}
	lv.debuggersChecked = time.Now()
	lv.reader.mu.Lock()
	var pids []int
	for pid, p := range lv.reader.procs {
		if !p.debugged {
			pids = append(pids, int(pid))
		}
	}
	lv.reader.mu.Unlock()
	for _, pid := range pids {
		lv.reader.warnOfDebugger(pid)
	}
}

// warnOfDebugger warns, once for each process, if the process is being debugged.
func (rd *reader) warnOfDebugger(pid int) {
	t := target.TracerOf(pid)
	if t.PID == 0 {
		return
	}
	s := fmt.Sprintf("Process %d is being debugged by %s (process %d): where a breakpoint and a probe are in one place, the program may not stop there, and probe hits may be missing; a breakpoint that outlives the probes kills the program (SIGTRAP).",
		pid, t.Name, t.PID)
	rd.mu.Lock()
	p := rd.procs[uint32(pid)]
	if p != nil && !p.debugged {
		p.debugged = true
		p.warnOnce(s)
	} else {
		p = nil
	}
	say := rd.say
	rd.mu.Unlock()
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
func (m *Measurement) Held() string { return m.placer.heldSentence() }

// heldSentence is Held.
func (pc *placer) heldSentence() string {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	var who []string
	for _, h := range pc.held {
		if t := target.TracerOf(h.pid); t.PID != 0 {
			who = append(who, fmt.Sprintf("%d (by %s, process %d)", h.pid, t.Name, t.PID))
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

// detachHeld returns the links of the probes that stayed because of a debugger, for the caller to
// close.
func (pc *placer) detachHeld() (links []io.Closer) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	for _, h := range pc.held {
		links = append(links, h.links...)
	}
	pc.held = nil
	return links
}
