package collect

import (
	"errors"
	"io"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/links"
	"ompp-attach/collect/target"
	"ompp-attach/profile"
)

// several are the links of several plans.
type several []io.Closer

// Close implements io.Closer.
func (s several) Close() (err error) {
	for _, l := range s {
		err = errors.Join(err, l.Close())
	}
	return err
}

// A process stops sharing before its links are closed, and once: closing may take until another
// program with its PID shares the probes anew.
func TestUnshare(t *testing.T) {
	k := kernelSide(t)
	m := assemble(&common{kernel: k, logf: t.Logf})
	removed := 0
	place := func(int) (io.Closer, error) { return closerFunc(func() error { removed++; return nil }), nil }
	const plans = 3
	program := func() (*Process, several) {
		p := m.lives.newProcess(unix.Getpid(), m.newProgram(unix.Getpid(), true))
		p.meta.MPI = &profile.MPIJob{Size: 2}
		var l several
		for plan := range plans {
			link, err := m.placer.share(p, plan, place)
			if err != nil {
				t.Fatal(err)
			}
			l = append(l, link)
		}
		p.placed[target.FileID{}] = placed{link: l}
		return p, l
	}
	p, _ := program()
	old := m.placer.detachLinks(p)
	if k.Shares(unix.Getpid()) {
		t.Error("it shares while its links are closed")
	}
	_, anew := program()
	links.Close(old)
	if !k.Shares(unix.Getpid()) {
		t.Error("the new program does not share any more")
	}
	if removed != 0 {
		t.Errorf("the probes of %d plans were removed while the new program uses them", removed)
	}
	if err := anew.Close(); err != nil || removed != plans {
		t.Errorf("%v; the probes of %d plans were removed, want %d", err, removed, plans)
	}
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }
