package launch

import (
	"context"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

// cats starts processes that end when end is called with their number. end returns when the process
// has ended. fds are their pidfds.
func cats(t *testing.T, number int) (fds []int, end func(n int)) {
	t.Helper()
	ends := make([]func(), number)
	for n := range ends {
		cmd := exec.Command("cat")
		in, _ := testbin.Talk(t, cmd)
		fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		ends[n] = sync.OnceFunc(func() { in.Close(); _ = cmd.Wait() })
		t.Cleanup(func() { unix.Close(fd); ends[n]() })
		fds = append(fds, fd)
	}
	return fds, func(n int) { ends[n]() }
}

// Each process is told once, in the order in which the processes end.
func TestAwaitEnds(t *testing.T) {
	fds, end := cats(t, 4)
	var told []int
	end(1) // each end lets the next process end
	AwaitEnds(context.Background(), fds[:3], func(n int) {
		told = append(told, n)
		if next := map[int]int{1: 2, 2: 0}; n != 0 {
			end(next[n])
		}
	})
	if want := []int{1, 2, 0}; !slices.Equal(told, want) {
		t.Errorf("ended: %v, want %v", told, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	AwaitEnds(ctx, fds[3:], func(int) { t.Error("a process that runs is told to have ended") })
}

// When measuring is to end, all processes that have ended by then are told to have ended, and no
// others. One may end while another one's end is acted on.
func TestAwaitEndsUntilTheEnd(t *testing.T) {
	fds, end := cats(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var told []int
	end(0)
	AwaitEnds(ctx, fds, func(n int) {
		if told = append(told, n); n == 0 {
			end(1)
			cancel()
		}
	})
	if want := []int{0, 1}; !slices.Equal(told, want) {
		t.Errorf("ended: %v, want %v", told, want)
	}
}
