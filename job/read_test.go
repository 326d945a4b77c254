package job

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
)

// The outcomes come in the order of the sources, the errors in their places. If the consumer breaks
// off, as after a rank's error, all goroutines end: otherwise synctest.Test fails.
func TestInOrder(t *testing.T) {
	bad := errors.New("bad")
	sources := make([]Source, 8+4*runtime.GOMAXPROCS(0))
	for i := range sources {
		sources[i].Rank = i
	}
	for _, most := range []int{1, 5, len(sources)} {
		synctest.Test(t, func(t *testing.T) {
			var got []int
			for x := range inOrder(sources, func(s Source) (int, error) {
				if s.Rank == 4 {
					return 0, bad
				}
				return s.Rank, nil
			}) {
				if x.source.Rank == 4 != (x.err == bad) || x.err == nil && x.got != x.source.Rank {
					t.Errorf("rank %d: %d, %v", x.source.Rank, x.got, x.err)
				}
				if got = append(got, x.source.Rank); len(got) == most {
					break
				}
			}
			if len(got) != most || !slices.IsSorted(got) {
				t.Errorf("ranks %v, want the first %d", got, most)
			}
		})
	}
}
