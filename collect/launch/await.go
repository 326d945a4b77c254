package launch

import (
	"context"
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// AwaitEnds calls ended for each process that ends, with its place in the list of pidfds. It
// returns when all have ended, or ctx ends. When ctx ends, it still tells of those that have ended
// by then. ended may close its pidfd.
func AwaitEnds(ctx context.Context, pidfds []int, ended func(n int)) {
	wait := 50                                       // ms, for the end of ctx
	wake := unix.PollFd{Fd: -1, Events: unix.POLLIN} // poll ignores negative descriptors
	if over, end, err := os.Pipe(); err == nil {
		defer over.Close()
		defer end.Close()
		defer context.AfterFunc(ctx, func() { end.Close() })()
		wake.Fd, wait = int32(over.Fd()), -1
	}
	left := slices.Clone(pidfds)
	for n, last := len(left), false; n > 0 && !last; {
		if last = ctx.Err() != nil; last {
			wait = 0
		}
		fds := []unix.PollFd{wake}
		for _, fd := range left { // -1: it has ended
			fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		}
		if _, err := unix.Poll(fds, wait); errors.Is(err, unix.EINTR) {
			last = false
			continue
		} else if err != nil {
			return
		}
		for i, fd := range fds[1:] {
			if fd.Revents != 0 {
				left[i] = -1
				n--
				ended(i)
			}
		}
	}
}
