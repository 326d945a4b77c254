package collect

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
)

// What can stand in the way of a measurement, each told in one sentence.

// hostPIDs refuses to run where process numbers are not the kernel's own: the
// records carry those of the initial PID namespace, whose inode is fixed
// (PROC_PID_INIT_INO, include/linux/proc_ns.h).
func hostPIDs() error {
	const initial = "pid:[4026531836]"
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil && ns != initial {
		return &AttachError{"this shell runs in a PID namespace of its own (a container), where process numbers differ from the kernel's: run ompp-attach on the host, or in a container with the host's PID namespace (docker run --pid=host --privileged)"}
	}
	return nil
}

func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	rest := b[bytes.LastIndexByte(b, ')')+1:]
	return len(rest) > 1 && rest[1] == 'Z'
}

// kernelVersion returns the running kernel's major and minor number.
func kernelVersion() (major, minor int) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return 0, 0
	}
	f := strings.FieldsFunc(unix.ByteSliceToString(u.Release[:]), func(r rune) bool { return r < '0' || r > '9' })
	if len(f) >= 2 {
		major, _ = strconv.Atoi(f[0])
		minor, _ = strconv.Atoi(f[1])
	}
	return major, minor
}

// seccompTrouble refuses processes that the kernel would kill: from 6.11 a
// return probe enters a system call of its own, which only 6.14 (and stable
// updates of early 2025) hides from seccomp filters.
func seccompTrouble(pid int, mode bpf.Mode) error {
	if mode == bpf.Perf {
		return nil
	}
	major, minor := kernelVersion()
	if major != 6 || minor < 11 || minor >= 14 || !hasSeccompFilter(pid) {
		return nil
	}
	return &AttachError{fmt.Sprintf("process %d runs under a seccomp filter, and kernel %d.%d may kill it at a return probe: use a kernel from 6.14 on, or run the program without the filter (containers: --security-opt seccomp=unconfined)", pid, major, minor)}
}

func hasSeccompFilter(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.Contains(string(b), "\nSeccomp:\t2")
}
