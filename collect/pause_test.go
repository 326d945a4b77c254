package collect

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/control"
	"ompp-attach/collect/target"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// A process that ends, or runs another program, while its probes come or go is not touched any
// more: another goroutine makes its profile.
func TestPauseAtTheEnd(t *testing.T) {
	k := kernelSide(t)
	pid := unix.Getpid()
	for _, verb := range []string{"pause", "resume"} {
		m := assemble(&common{kernel: k, logf: t.Logf})
		p := m.lives.newProcess(pid, m.newProgram(pid, false))
		p.libs = nothing{} // needs the follower
		ends := func() {
			m.reader.mu.Lock()
			defer m.reader.mu.Unlock()
			delete(m.reader.procs, p.pid)
			p.engine = nil // who uses it panics
		}
		do := m.Pause
		if verb == "pause" {
			p.placed[target.FileID{}] = placed{link: closerFunc(func() error { ends(); return nil })}
		} else {
			do = m.Resume
			p.paused = true
			m.AddFinder(func(*symbols.Module) []probes.CodePoint { ends(); return nil })
		}
		if err := do(pid); !errors.Is(err, control.ErrNotMeasured) || p.engine != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
