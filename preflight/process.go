package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
)

// Process holds what /proc shows of a process to every user.
type Process struct {
	PID     int
	Leader  int    // PID of the process to which this thread belongs; equal to PID for a process
	Name    string // of the command, at most 15 characters
	UID     int    // effective
	Threads int
	Kernel  bool // a thread of the kernel
	Ended   bool // a zombie
	Seccomp bool // a seccomp filter is on it
}

// ErrNoProcess says that there is no such process, or that /proc hides it from this user (the mount
// option hidepid).
var ErrNoProcess = errors.New("no such process")

// ReadProcess reads the facts of a process from a file system with /proc. It needs no privileges.
// The error wraps ErrNoProcess if there is no such process.
func ReadProcess(fsys fs.FS, pid int) (Process, error) {
	b, err := fs.ReadFile(fsys, fmt.Sprintf("proc/%d/status", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return Process{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	if err != nil { // ESRCH: the process ended meanwhile
		return Process{}, fmt.Errorf("process %d: %w: %w", pid, ErrNoProcess, err)
	}
	st := parseStatus(b)
	p := Process{PID: pid, Leader: pid, Name: st["Name"]}
	if n, err := strconv.Atoi(st["Tgid"]); err == nil {
		p.Leader = n
	}
	p.UID, _ = strconv.Atoi(field(st["Uid"], 1))
	p.Threads, _ = strconv.Atoi(st["Threads"])
	state := field(st["State"], 0)
	p.Ended = state == "Z" || state == "X"
	p.Seccomp = st["Seccomp"] == seccompFilter
	// Only newer kernels have the line Kthread. On older ones, a thread of the kernel is known by
	// having no memory of its own.
	_, memory := st["VmSize"]
	p.Kernel = st["Kthread"] == "1" || !memory && !p.Ended
	return p, nil
}
