package links

import (
	"errors"
	"io"
	"testing"
)

// Probes stay as long as a process uses them. If nobody could use them, they go at once.
func TestShared(t *testing.T) {
	var s Shared
	placed, removed, refused := 0, 0, errors.New("refused")
	join := func(plan any, enter error) io.Closer {
		t.Helper()
		l, err := s.Join(plan, func() (io.Closer, error) {
			placed++
			return closerFunc(func() error { removed++; return nil }), nil
		}, func() error { return enter })
		if !errors.Is(err, enter) {
			t.Errorf("%v, want %v", err, enter)
		}
		return l
	}
	check := func(when string, wantPlaced, wantRemoved int) {
		t.Helper()
		if placed != wantPlaced || removed != wantRemoved {
			t.Errorf("%s: placed %d times, removed %d times, want %d and %d", when, placed, removed, wantPlaced, wantRemoved)
		}
	}
	join("a", refused)
	check("nobody may use them", 1, 1)
	first, second, other := join("a", nil), join("a", nil), join("b", nil)
	check("two users of one plan, one of another", 3, 1)
	join("a", refused)
	check("a third may not", 3, 1)
	first.Close()
	other.Close()
	check("the other plan has no user any more", 3, 2)
	second.Close()
	check("nobody uses them any more", 3, 3)
	join("a", nil)
	check("they are used again", 4, 3)
}

// An error of placing is the user's.
func TestSharedNotPlaced(t *testing.T) {
	var s Shared
	refused := errors.New("refused")
	_, err := s.Join(1, func() (io.Closer, error) { return nil, refused }, func() error { t.Error("entered"); return nil })
	if !errors.Is(err, refused) || len(s.links) != 0 {
		t.Errorf("%v, %d links; want %v, none", err, len(s.links), refused)
	}
}
