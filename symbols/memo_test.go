package symbols

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestMemo: goroutines that ask about one file at the same time get the same answer, which is
// computed once.
func TestMemo(t *testing.T) {
	var m Memo[int]
	var computed atomic.Int32
	files := []*Object{{}, {}}
	ask := func() {
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if got := m.Of(files[i%2], func(*Object) int { computed.Add(1); return 7 }); got != 7 {
					t.Errorf("got %d", got)
				}
			})
		}
		all.Wait()
	}
	ask()
	if n := computed.Load(); n != 2 {
		t.Errorf("%d answers were computed about two files", n)
	}
	m.Forget(files[0])
	ask()
	if n := computed.Load(); n != 3 {
		t.Errorf("%d answers were computed, want one more about the forgotten file", n)
	}
}
