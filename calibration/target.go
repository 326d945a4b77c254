package calibration

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/clock"
)

// target is the running program.
type target struct {
	cmd  *exec.Cmd
	file *os.File // the executable, a file in memory
	in   io.WriteCloser
	out  *os.File
}

// patience bounds how long an answer may take on a busy machine.
const patience = 5 * time.Second

func startTarget(image []byte) (*target, error) {
	fd, err := unix.MemfdCreate("ompp-calibration", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before 6.3
		fd, err = unix.MemfdCreate("ompp-calibration", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, fmt.Errorf("create a file in memory: %w", err)
	}
	t := &target{file: os.NewFile(uintptr(fd), "ompp-calibration")}
	if err := t.run(image); err != nil {
		t.file.Close()
		return nil, err
	}
	return t, nil
}

func (t *target) run(image []byte) error {
	if _, err := t.file.Write(image); err != nil {
		return fmt.Errorf("write the program: %w", err)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	t.out = out
	t.cmd = &exec.Cmd{Path: t.path(), Args: []string{"ompp-calibration"}, Env: []string{}, Stdout: theirs}
	if t.in, err = t.cmd.StdinPipe(); err == nil {
		err = t.cmd.Start()
	}
	if err != nil {
		out.Close()
		return fmt.Errorf("start the program: %w", err)
	}
	return nil
}

// path is the path of the program's file.
func (t *target) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), t.file.Fd()) }

func (t *target) pid() int { return t.cmd.Process.Pid }

// close ends the program.
func (t *target) close() {
	t.in.Close()
	t.out.Close()
	_ = t.cmd.Process.Kill()
	_ = t.cmd.Wait()
	t.file.Close()
}

// command makes the program call a function n times. second is the address to which the function
// that stores the time jumps. At most numStamps times are stored.
type command struct {
	function uint64
	n        int
	second   uint64
}

// answer is what one of the program's threads has measured for a command.
type answer struct {
	cpu    int64   // ns of processor time
	stamps []int64 // ns, the kernel's CLOCK_MONOTONIC
}

// obey gives the program commands, and returns its answers. One thread obeys one after the other.
func (t *target) obey(commands ...command) (all []answer, err error) {
	var c []byte
	for _, k := range commands {
		for _, v := range []uint64{k.function, uint64(k.n), k.second} {
			c = binary.NativeEndian.AppendUint64(c, v)
		}
	}
	if _, err := t.in.Write(c); err != nil {
		return nil, fmt.Errorf("the program does not listen: %w", err)
	}
	if err := t.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	for _, k := range commands {
		b := make([]byte, answerBytes)
		if _, err := io.ReadFull(t.out, b); err != nil {
			return nil, fmt.Errorf("the program does not answer: %w", err)
		}
		a := answer{cpu: processorTime(b)}
		for i := range min(k.n, numStamps) {
			a.stamps = append(a.stamps, timeAt(b, 48+16*i)-clock.Offset())
		}
		all = append(all, a)
	}
	return all, nil
}

// processorTime returns the processor time of a thread's answer, ns.
func processorTime(b []byte) int64 { return timeAt(b, 16) - timeAt(b, 0) }

func timeAt(b []byte, i int) int64 {
	return int64(binary.NativeEndian.Uint64(b[i:]))*1e9 + int64(binary.NativeEndian.Uint64(b[i+8:]))
}
