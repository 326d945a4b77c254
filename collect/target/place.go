package target

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/preflight"
)

// NotPlaced turns the kernel's error of placing probes in a process into a sentence that says what
// the user can do: an *AttachError. Other errors are wrapped.
func NotPlaced(pid int, err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &AttachError{Sentence: fmt.Sprintf("not permitted to place probes in process %d (%v): run as root, or with the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; `ompp-attach check` tells what is missing", pid, err)}
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		return &AttachError{Sentence: fmt.Sprintf("process %d ended before its probes were placed", pid)}
	}
	return fmt.Errorf("place probes in process %d: %w", pid, err)
}

// RefuseSeccomp refuses a process that the kernel would kill at a return probe placed in a mode:
// the error is an *AttachError.
func RefuseSeccomp(pid int, m *preflight.Machine, mode bpf.Mode) error {
	p, err := preflight.ReadProcess(preflight.Root(), pid)
	if err != nil || !p.Seccomp || !m.SeccompKills(mode) {
		return nil
	}
	return &AttachError{Sentence: fmt.Sprintf("process %d runs under a seccomp filter, and kernel %s may kill it at a return probe: use a kernel from 6.14 on, or run the program without the filter (containers: --security-opt seccomp=unconfined)", pid, m.Release)}
}
