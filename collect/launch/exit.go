package launch

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pidfdInfo is struct pidfd_info of linux/pidfd.h in Linux 6.13. From Linux 6.15 on it tells any
// process how another one ended, even after the parent has waited for the latter.
type pidfdInfo struct {
	Mask     uint64
	CgroupID uint64
	Numbers  [11]uint32 // PIDs and user ids, which are not needed
	ExitCode int32
}

const (
	pidfdGetInfo  = 0xc040ff0b // PIDFD_GET_INFO: _IOWR(0xff, 11, struct pidfd_info)
	pidfdInfoExit = 1 << 3     // PIDFD_INFO_EXIT
)

// EndingOf tells how the process of a pidfd ended. ok is false if the end is not known. Then the
// process still runs, or its parent has waited for it and the kernel is older than 6.15.
func EndingOf(pid, fd int) (e Ending, ok bool) {
	if status, ended := zombieStatus(pid); ended {
		// The number is the process's own as long as nobody has waited for it.
		if unix.PidfdSendSignal(fd, 0, nil, 0) == nil {
			return endingBy(status), true
		}
	}
	info := pidfdInfo{Mask: pidfdInfoExit}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), pidfdGetInfo, uintptr(unsafe.Pointer(&info)))
	if errno != 0 || info.Mask&pidfdInfoExit == 0 {
		return Ending{}, false
	}
	return endingBy(syscall.WaitStatus(info.ExitCode)), true
}

// zombieStatus reads the wait status of a process that has ended and that nobody has waited for
// yet.
func zombieStatus(pid int) (ws syscall.WaitStatus, ended bool) {
	const state, exitCode = 0, 49 // fields behind the name: 3 and 52 of proc(5)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) <= exitCode || f[state] != "Z" {
		return 0, false
	}
	n, err := strconv.Atoi(f[exitCode])
	return syscall.WaitStatus(n), err == nil
}

// endingBy describes how a process with a wait status ended.
func endingBy(ws syscall.WaitStatus) Ending {
	if ws.Signaled() {
		return Ending{Status: 128 + int(ws.Signal()), Signal: ws.Signal(), How: fmt.Sprintf("killed by signal %d (%s)", ws.Signal(), ws.Signal())}
	}
	return Ending{Status: ws.ExitStatus(), How: fmt.Sprintf("exit status %d", ws.ExitStatus())}
}
