package links

import (
	"errors"
	"io"
	"sync"
	"testing"

	"ompp-attach/event"
)

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// Links that wait for the same event in the kernel wait at the same time.
func TestGroupsCloseAtOnce(t *testing.T) {
	var all sync.WaitGroup
	all.Add(int(event.NumGroups))
	l := &Groups{}
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
