package bpf

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Waiter waits until the kernel side has woken the reader of a ring. It uses Go's own poller. The
// ebpf library's reader blocks a goroutine in a system call instead. Then Go's scheduler checks on
// that goroutine a hundred times for each wait, on a processor that the measured program may need.
type Waiter struct {
	poll  *os.File // an epoll instance; the ring reports each wake once
	woken atomic.Bool
	wakes *kernelRing // entries that are there for the wake alone; nil if others read the ring
}

func newWaiter(ring *ebpf.Map) (*Waiter, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wait for rings: %w", err)
	}
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
	if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, ring.FD(), &ev); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("wait for rings: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // otherwise package os does not poll it
		unix.Close(fd)
		return nil, fmt.Errorf("wait for rings: %w", err)
	}
	return &Waiter{poll: os.NewFile(uintptr(fd), "rings")}, nil
}

// Wait returns at the given time. It returns early if the reader was woken since the last Wait, or
// if Wake was called. Only one goroutine at a time may wait.
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
		if n > 0 && w.wakes != nil {
			_, _, failed = w.wakes.read(math.MaxInt, func([]byte) error { return nil })
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

// Wake ends the current Wait, or else the next one.
func (w *Waiter) Wake() {
	w.woken.Store(true)
	_ = w.poll.SetReadDeadline(time.Now())
}

// Close frees the Waiter. Nobody may be waiting.
func (w *Waiter) Close() {
	w.poll.Close()
	if w.wakes != nil {
		_ = w.wakes.close()
	}
}
