package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
)

// Process is what /proc shows of a process to every user.
type Process struct {
	PID     int
	Leader  int    // PID of the process whose thread this is; PID itself for a process
	Name    string // the command's, at most 15 characters
	UID     int    // effective
	Threads int
	Kernel  bool // a thread of the kernel
	Ended   bool // a zombie
	Seccomp bool // under a seccomp filter
}

// ErrNoProcess means that there is no such process, or that it is hidden from
// this user (the hidepid option of /proc).
var ErrNoProcess = errors.New("no such process")

// ReadProcess reads the facts of a process; it needs no privilege.
func ReadProcess(fsys fs.FS, pid int) (Process, error) {
	b, err := fs.ReadFile(fsys, fmt.Sprintf("proc/%d/status", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return Process{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	if err != nil { // ESRCH: it ended while we read
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
	// Only newer kernels say Kthread; before, kernel threads are those that have
	// no memory of their own.
	_, memory := st["VmSize"]
	p.Kernel = st["Kthread"] == "1" || !memory && !p.Ended
	return p, nil
}
