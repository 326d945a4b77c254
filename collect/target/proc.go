package target

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/preflight"
	"ompp-attach/probes"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// What /proc tells of a process.

// CPUTimes are a process's user and system time in ns.
type CPUTimes struct{ User, System uint64 }

// ClockTick is the unit of /proc/PID/stat's times: USER_HZ is 100 on every
// architecture that Linux exports it for.
const ClockTick = 10 * time.Millisecond

// ReadCPU returns the CPU times of a process, and the zero value if they cannot be read.
func ReadCPU(pid int) CPUTimes {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return CPUTimes{}
	}
	// The command's name may hold spaces and brackets: count from its end.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return CPUTimes{}
	}
	u, _ := strconv.ParseUint(f[11], 10, 64)
	s, _ := strconv.ParseUint(f[12], 10, 64)
	return CPUTimes{u * uint64(ClockTick), s * uint64(ClockTick)}
}

// ReadOwnCPU returns the processor time that ompp-attach itself has taken so far, in ns.
func ReadOwnCPU() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil { // cannot fail: the arguments are valid
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// ThreadsOf returns the ids of the threads of a process, and none if the process is gone.
func ThreadsOf(pid int) (tids []int) {
	d, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	for _, e := range d {
		if t, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, t)
		}
	}
	return tids
}

// Describe fills in what is known of a process before it is measured.
func Describe(pid int) profile.Meta {
	m := profile.Meta{Target: profile.Target{PID: pid}, Life: profile.Life{Start: time.Now()}}
	m.Path, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	m.Path = strings.TrimSuffix(m.Path, " (deleted)")
	m.Program = filepath.Base(m.Path)
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && len(b) > 0 {
		m.Args = strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	}
	m.Host, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
		m.Arch = unix.ByteSliceToString(u.Machine[:])
	}
	return m
}

// DescribeRuntime says for the profile in which file a runtime is, and what is probed in it.
func DescribeRuntime(mod *symbols.Module, plan *probes.Plan) profile.Runtime {
	return profile.Runtime{
		Name: plan.Runtime.String(), Path: mod.Path, Version: plan.Version(),
		BuildID: plan.Object.BuildID(), Probes: len(plan.Placements), Missing: plan.Missing,
	}
}

// FileID identifies a file: it is the same for all mappings of the file.
type FileID struct{ dev, inode uint64 }

// IDOf returns the identity of a module's file.
func IDOf(m *symbols.Module) FileID { return FileID{m.Dev, m.Inode} }

// ReadMemory returns a function that reads a number of n bytes, at most 8, from a process's memory.
func ReadMemory(pid int) func(addr uint64, n int) (uint64, error) {
	return func(addr uint64, n int) (uint64, error) {
		var b [8]byte
		local := []unix.Iovec{{Base: &b[0], Len: uint64(n)}}
		got, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: n}}, 0)
		if err == nil && got < n {
			err = unix.EFAULT
		}
		return binary.LittleEndian.Uint64(b[:]), err
	}
}

// MainStack returns the addresses between which a process's main stack may grow. The kernel keeps
// at least 128 MiB below its top free of other mappings (mmap_base).
func MainStack(pid int) (lo, hi uint64, ok bool) {
	const room = 128 << 20
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, false
	}
	for line := range bytes.Lines(b) {
		if bytes.HasSuffix(bytes.TrimSpace(line), []byte("[stack]")) {
			if _, err := fmt.Sscanf(string(line), "%x-%x", &lo, &hi); err == nil {
				return min(lo, hi-room), hi, true
			}
		}
	}
	return 0, 0, false
}

// NoCore reads how long a thread has been ready to run without a core, ns.
func NoCore(pid, tid int) (ns int64, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
	if err != nil {
		return 0, false
	}
	var ran int64
	_, err = fmt.Sscan(string(b), &ran, &ns)
	return ns, err == nil
}

// ProcessorTime returns the processor time of the calling thread.
func ProcessorTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// Ended tells whether a process is gone, or is a zombie.
func Ended(pid int) bool {
	p, err := preflight.ReadProcess(preflight.Root(), pid)
	return err != nil || p.Ended
}

// ThreadTimes returns how long each thread of a process has run and has waited for a core (ns), by
// thread id, from /proc/PID/task/*/schedstat. The time that a thread has run is known up to the
// kernel's last tick. Both are empty if the kernel does not tell.
func ThreadTimes(pid int) (ran, delayed map[uint32]int64) {
	ran, delayed = map[uint32]int64{}, map[uint32]int64{}
	for _, tid := range ThreadsOf(pid) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
		if err != nil {
			continue
		}
		f := bytes.Fields(b)
		if len(f) < 2 {
			continue
		}
		if ns, err := strconv.ParseInt(string(f[0]), 10, 64); err == nil && ns > 0 {
			ran[uint32(tid)] = ns
		}
		if ns, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil && ns > 0 {
			delayed[uint32(tid)] = ns
		}
	}
	return ran, delayed
}

// Environ returns a function that looks up variables of the environment with which a process was
// started.
func Environ(pid int) func(name string) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return func(string) string { return "" }
	}
	b = append([]byte{0}, b...)
	return func(name string) string {
		_, after, ok := bytes.Cut(b, []byte("\x00"+name+"="))
		if !ok {
			return ""
		}
		value, _, _ := bytes.Cut(after, []byte{0})
		return string(value)
	}
}

// CommandLine returns the arguments of a process, the program's name first, and nil if they cannot
// be read.
func CommandLine(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// ParentOf returns 0 if the process is gone.
func ParentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(f[1])
	return ppid
}
