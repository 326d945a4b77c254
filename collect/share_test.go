package collect

import (
	"errors"
	"io"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/profile"
)

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// A process stops sharing before its links are closed, and once: closing may take until another
// program with its PID shares the probes anew.
func TestUnshare(t *testing.T) {
	k := driven(t)
	m := assemble(&common{kernel: k, logf: t.Logf})
	place := func(int) (io.Closer, error) { return nothing{}, nil }
	program := func() (*Process, *groupLinks) {
		p := m.lives.newProcess(unix.Getpid(), m.newProgram(unix.Getpid(), true))
		p.meta.MPI = &profile.MPIJob{Size: 2}
		l := &groupLinks{}
		for g := range event.Group(3) {
			link, err := m.placer.share(p, groupPlan{group: g}, place)
			if err != nil {
				t.Fatal(err)
			}
			l.links[g] = link
		}
		p.placed[target.FileID{}] = placed{link: l}
		return p, l
	}
	p, _ := program()
	links := m.placer.detachLinks(p)
	if k.Shares(unix.Getpid()) {
		t.Error("it shares while its links are closed")
	}
	_, anew := program()
	closeLinks(links)
	if !k.Shares(unix.Getpid()) {
		t.Error("the new program does not share any more")
	}
	for plan, s := range m.placer.shared {
		if s.users != 1 {
			t.Errorf("%v: %d users, want 1", plan, s.users)
		}
	}
	anew.Close()
	if len(m.placer.shared) != 0 {
		t.Errorf("%d links are left", len(m.placer.shared))
	}
}

// Links that wait for the same event in the kernel wait at the same time.
func TestGroupsCloseAtOnce(t *testing.T) {
	var all sync.WaitGroup
	all.Add(int(event.NumGroups))
	l := &groupLinks{}
	for g := range event.NumGroups {
		l.links[g] = closerFunc(func() error {
			all.Done()
			all.Wait() // for ever, if they come one by one
			return io.EOF
		})
	}
	if err := l.Close(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
