package collect

import (
	"context"
	"time"

	"ompp-attach/collect/debuggers"
)

// checkDebuggers warns of debuggers that were attached since the last check; lives.mu is held.
func (lv *lives) checkDebuggers() {
	if time.Since(lv.debuggersChecked) < debuggers.Every {
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
	s := debuggers.Warning(pid)
	if s == "" {
		return
	}
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

// Held returns a sentence that says for which processes probes stay after the measurement, because
// of a debugger. It returns "" if there are none.
func (m *Measurement) Held() string { return m.placer.held.Sentence() }

// AwaitDebuggers waits until no debugger keeps probes in place any more, or until ctx ends.
func (m *Measurement) AwaitDebuggers(ctx context.Context) { m.placer.held.Await(ctx) }
