package node

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// OwnProcess makes the process independent of the rank whose tool started it, and returns its
// listener.
func OwnProcess() (net.Listener, error) {
	// Signals that end the ranks may reach the collector, too. The collector ends when the ranks
	// have ended.
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	file := os.NewFile(3, "socket")
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("collector: %w", err)
	}
	file.Close()
	closeInherited()
	unbind()
	return l, nil
}

// closeInherited closes files that the collector has inherited from the rank. The launcher takes
// the end of these files for the rank's end.
func closeInherited() {
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range fds {
		fd, _ := strconv.Atoi(filepath.Base(name))
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && fd > 2 && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// unbind lets the process run on all cores: the launcher has bound the rank to a core, which the
// rank needs for itself. unbind also raises the priority above that of the ranks. If there are more
// ranks than cores, the reader of the rings would otherwise run too late, and records would be
// lost.
func unbind() {
	const urgent = -20
	var all unix.CPUSet
	for i := range 64 * len(all) {
		all.Set(i)
	}
	threads, _ := filepath.Glob("/proc/self/task/*") // each thread has its own settings
	for _, name := range threads {
		if tid, err := strconv.Atoi(filepath.Base(name)); err == nil {
			_ = unix.SchedSetaffinity(tid, &all)
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, urgent)
		}
	}
	// Where the kernel schedules sessions as groups, the group's priority counts.
	_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(urgent)), 0)
	var may unix.CPUSet // the cores that the kernel has allowed
	if unix.SchedGetaffinity(0, &may) == nil {
		runtime.GOMAXPROCS(may.Count())
	}
}
