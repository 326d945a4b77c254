package bpf

import (
	"errors"
	"io"
	"slices"
	"testing"
)

// countedLink is a link that counts how often it is closed.
type countedLink struct {
	closed int
	err    error
}

func (l *countedLink) Close() error { l.closed++; return l.err }

func TestJoin(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		links []*countedLink // nil: was not placed
		err   error
	}{
		"none":                    {},
		"two":                     {links: []*countedLink{{}, {}}},
		"the first is not placed": {links: []*countedLink{nil, {}}},
		"the last is not placed":  {links: []*countedLink{{}, nil}},
		"none is placed":          {links: []*countedLink{nil, nil}},
		"one cannot be closed":    {links: []*countedLink{{err: broken}, nil, {}}, err: broken},
	} {
		var all []io.Closer
		placed := 0
		for _, l := range c.links {
			if l == nil {
				all = append(all, nil)
				continue
			}
			placed++
			all = append(all, l)
		}
		given := slices.Clone(all)
		joined := Join(all...)
		if got := len(Parts(joined)); got != placed {
			t.Errorf("%s: %d parts, want %d", name, got, placed)
		}
		if err := joined.Close(); !errors.Is(err, c.err) {
			t.Errorf("%s: got the error %v, want %v", name, err, c.err)
		}
		for i, l := range c.links {
			if l != nil && l.closed != 1 {
				t.Errorf("%s: link %d was closed %d times", name, i, l.closed)
			}
		}
		if !slices.Equal(all, given) {
			t.Errorf("%s: Join has changed the caller's list", name)
		}
	}
}
