package collect

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/target"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// A process that ends, or runs another program, while its probes come or go is not touched any
// more: another goroutine makes its profile.
func TestPauseAtTheEnd(t *testing.T) {
	k := driven(t)
	pid := unix.Getpid()
	for _, verb := range []string{"pause", "resume"} {
		m := &Measurement{kernel: k, logf: t.Logf, procs: map[uint32]*Process{}, plans: map[*symbols.Object]planned{}, code: map[*symbols.Object]planned{}}
		p := m.newProcess(pid, m.newProgram(pid, false))
		p.libs = nothing{} // needs the follower
		ends := func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.procs, p.pid)
			p.engine = nil // who uses it panics
		}
		do := m.Pause
		if verb == "pause" {
			p.placed[target.FileID{}] = placed{link: closerFunc(func() error { ends(); return nil })}
		} else {
			do = m.Resume
			p.offGone = true
			m.AddFinder(func(*symbols.Module) []probes.CodePoint { ends(); return nil })
		}
		if err := do(pid); !errors.Is(err, errNotMeasured) || p.engine != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
