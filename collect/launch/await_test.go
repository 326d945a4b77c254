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
