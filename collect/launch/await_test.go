package launch

import (
	"context"
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

// Each process is told once, in the order in which the processes end.
func TestAwaitEnds(t *testing.T) {
	var fds []int
	var inputs []interface{ Close() error }
	for range 3 {
		cmd := exec.Command("cat")
		in, _ := testbin.Talk(t, cmd)
		fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd); _ = cmd.Wait() })
		fds, inputs = append(fds, fd), append(inputs, in)
	}
	var told []int
	inputs[1].Close() // each end lets the next process end
	AwaitEnds(context.Background(), fds, func(n int) {
		told = append(told, n)
		if next := map[int]int{1: 2, 2: 0}; n != 0 {
			inputs[next[n]].Close()
		}
	})
	if want := []int{1, 2, 0}; !slices.Equal(told, want) {
		t.Errorf("ended: %v, want %v", told, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.Command("cat")
	in, _ := testbin.Talk(t, cmd)
	defer func() { in.Close(); _ = cmd.Wait() }()
	fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	cancel()
	AwaitEnds(ctx, []int{fd}, func(int) { t.Error("a process that runs is told to have ended") })
}

// When measuring is to end, all processes that have ended by then are told to have ended, and no
// others. One may end while another one's end is acted on.
func TestAwaitEndsUntilTheEnd(t *testing.T) {
	var fds []int
	var all []*exec.Cmd
	var inputs []interface{ Close() error }
	for range 3 {
		cmd := exec.Command("cat")
		in, _ := testbin.Talk(t, cmd)
		fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd); in.Close(); _ = cmd.Wait() })
		fds, all, inputs = append(fds, fd), append(all, cmd), append(inputs, in)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	end := func(n int) {
		inputs[n].Close()
		_ = all[n].Wait()
	}
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
