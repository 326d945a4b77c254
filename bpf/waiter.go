package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Waiter waits until the kernel side has woken the reader of one of some rings.
// It waits by Go's own poller: a goroutine that blocks in a call of its own, as
// the library's reader does, makes the scheduler look after it a hundred times
// each time, on a processor that the measured program may need.
type Waiter struct {
	poll  *os.File // an epoll instance, in which each ring reports each wake once
	woken atomic.Bool
}

func newWaiter(rings ...*ebpf.Map) (*Waiter, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wait for rings: %w", err)
	}
	for _, m := range rings {
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
		if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, m.FD(), &ev); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("wait for rings: %w", err)
		}
	}
	if err := unix.SetNonblock(fd, true); err != nil { // or os does not poll it
		unix.Close(fd)
		return nil, fmt.Errorf("wait for rings: %w", err)
	}
	return &Waiter{poll: os.NewFile(uintptr(fd), "rings")}, nil
}

// Wait returns at a time, or early, when the reader was woken since the last time or
// Wake was called; one at a time may wait.
func (w *Waiter) Wait(until time.Time) (early bool, err error) {
	conn, err := w.poll.SyscallConn()
	if err == nil {
		err = w.poll.SetReadDeadline(until)
	}
	if err != nil {
		return false, fmt.Errorf("wait for rings: %w", err)
	}
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		if w.woken.Swap(false) {
			return true
		}
		var some [16]unix.EpollEvent
		n, err := unix.EpollWait(int(fd), some[:], 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			failed = err
		}
		return n > 0 || failed != nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return w.woken.Swap(false), nil
	}
	if err = errors.Join(err, failed); err != nil {
		return false, fmt.Errorf("wait for rings: %w", err)
	}
	return true, nil
}

// Wake ends Wait, or the next one.
func (w *Waiter) Wake() {
	w.woken.Store(true)
	_ = w.poll.SetReadDeadline(time.Now())
}

// Close frees what it holds; nobody may wait.
func (w *Waiter) Close() { w.poll.Close() }
