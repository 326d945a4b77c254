package handles

import (
	"fmt"
	"strings"
	"testing"

	"ompp-attach/mpi/match"
)

// TestTable makes calls in the order of their beginnings. It compares what each handle named then,
// and what no call can take any more.
func TestTable(t *testing.T) {
	type step struct {
		do   string // "give HANDLE IS AT NOW", "name HANDLE IS AT", or "take HANDLE NOW"
		want string
	}
	for name, steps := range map[string][]step{
		"taken once": {{"give 1 a 5 0", ""}, {"take 1 5", "a"}, {"take 1 9", "nothing"}, {"give 1 b 12 10", ""}, {"take 1 12", "b"}},
		"several":    {{"give 2 b 1 0", ""}, {"give 1 a 2 1", ""}, {"all", "a b"}, {"take 2 3", "b"}, {"all", "a"}, {"take 3 4", "nothing"}},
		// The call that gives has not returned yet.
		"too early": {{"give 1 a 5 0", ""}, {"take 1 4", "nothing"}, {"take 1 5", "a"}},
		// One thread is given the handle, while another thread's call that takes it has not
		// returned yet.
		"given again before it was taken": {{"give 1 a 2 0", ""}, {"give 1 b 9 5", ""}, {"all", "a b"}, {"take 1 6", "a"}, {"all", "b"}, {"take 1 9", "b"}, {"all", ""}},
		"given again, taken at once":      {{"give 1 a 2 0", ""}, {"give 1 b 9 1", ""}, {"take 1 2", "a"}, {"take 1 9", "b"}},
		"given again, taken later":        {{"give 1 a 2 0", ""}, {"give 1 b 9 5", ""}, {"take 1 9", "b, gone a"}, {"take 1 10", "nothing"}},
		"given again, long after":         {{"give 1 a 2 0", ""}, {"give 1 b 9 9", "gone a"}, {"take 1 9", "b"}},
		"three times":                     {{"give 1 a 2 0", ""}, {"give 1 b 6 3", ""}, {"give 1 c 9 5", ""}, {"take 1 7", "b, gone a"}, {"take 1 8", "nothing"}, {"take 1 9", "c"}},
		"three times, two long after":     {{"give 1 a 2 0", ""}, {"give 1 b 6 3", ""}, {"give 1 c 9 7", "gone a"}, {"take 1 7", "b"}, {"all", "c"}},
		// Of two threads, the later call ends first.
		"in another order":     {{"give 1 a 9 0", ""}, {"give 1 b 7 5", ""}, {"all", "b a"}, {"take 1 8", "b"}, {"take 1 9", "a"}},
		"named later":          {{"give 1  2 0", ""}, {"name 1 a 2", ""}, {"name 1 x 3", ""}, {"name 2 x 2", ""}, {"all", "a"}, {"take 1 2", "a"}},
		"an earlier one named": {{"give 1  2 0", ""}, {"give 1 b 9 5", ""}, {"name 1 a 2", ""}, {"take 1 6", "a"}, {"take 1 9", "b"}},
	} {
		h := New[string]()
		for _, s := range steps {
			f := append(strings.Split(s.do, " "), "", "", "")
			var handle, at, now uint64
			_, _ = fmt.Sscan(f[1], &handle)
			_, _ = fmt.Sscan(f[3], &at)
			got, gone := "", []string(nil)
			switch f[0] {
			case "give":
				_, _ = fmt.Sscan(f[4], &now)
				gone = h.Give(handle, f[2], at, now)
			case "name":
				h.Name(handle, f[2], at)
			case "all":
				got = strings.Join(h.All(), " ")
			case "take":
				_, _ = fmt.Sscan(f[2], &now)
				var ok bool
				if got, ok, gone = h.Take(handle, now); !ok {
					got = "nothing"
				}
			}
			if len(gone) > 0 {
				got += ", gone " + strings.Join(gone, " ")
			}
			if got = strings.TrimPrefix(got, ", "); got != s.want {
				t.Errorf("%s: %s: %q, want %q", name, s.do, got, s.want)
			}
		}
		if len(h.earlier) > 0 {
			t.Errorf("%s: kept for nobody: %v", name, h.earlier)
		}
	}
}

// TestGivenAt: with one thread, nobody can take a handle before the call that gives it has
// returned.
func TestGivenAt(t *testing.T) {
	c := &match.Call{Start: 3, End: 8}
	for threads, want := range map[int]uint64{1: 3, 2: 8} {
		if at := GivenAt(&match.RankCalls{Threads: make([]match.Calls, threads)}, c); at != want {
			t.Errorf("%d threads: %d, want %d", threads, at, want)
		}
	}
}
