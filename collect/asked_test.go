package collect

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/control"
)

// Other runs of the tool may ask while a measurement ends, and after its end. Whoever reads a ring
// that is not mapped any more ends the whole tool.
func TestAskedAtTheEnd(t *testing.T) {
	k := kernelSide(t)
	m := assemble(&common{kernel: k, logf: func(string, ...any) {}})
	var err error
	if m.reader.rings, err = k.Rings(); err != nil {
		t.Fatal(err)
	}
	m.reader.readTo = make([]uint64, len(m.reader.rings))
	pid := unix.Getpid()
	m.lives.newProcess(pid, m.newProgram(pid, false)).libs = nothing{} // needs the follower
	m.OnDump(func(of int) (string, error) { return "", nil })
	asked := make(chan error)
	go func() {
		for err := error(nil); err == nil; {
			_, err = m.Profiles(pid)
			asked <- err
		}
	}()
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
	m.Close() // most of the time, Profiles is about to read the rings
	if err = <-asked; err == nil {
		err = <-asked
	}
	_, dumped := m.Dump(pid)
	for what, err := range map[string]error{"snapshot": err, "dump": dumped, "pause": m.Pause(pid), "resume": m.Resume(pid)} {
		if !errors.Is(err, control.ErrNotMeasured) {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
	if m.Measures(pid) {
		t.Error("the process is measured after the end")
	}
}
