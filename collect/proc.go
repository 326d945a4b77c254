package collect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/probes"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// What /proc tells of a process.

// CPUTimes are a process's user and system time in ns.
type CPUTimes struct{ User, System uint64 }

// clockTick is the unit of /proc/PID/stat's times: USER_HZ is 100 on every
// architecture that Linux exports it for.
const clockTick = 10 * time.Millisecond

func readCPU(pid int) CPUTimes {
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
	return CPUTimes{u * uint64(clockTick), s * uint64(clockTick)}
}

// readCPU reads a process's CPU times anew. If they cannot be read any more, the last ones stay.
func (p *Process) readCPU() {
	if c := readCPU(int(p.pid)); c != (CPUTimes{}) {
		p.cpu = c
	}
}

func threadsOf(pid int) (tids []int) {
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

// describe fills in what is known of a process before it is measured.
func describe(pid int) profile.Meta {
	m := profile.Meta{PID: pid, Start: time.Now()}
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
	m.Tool, m.Built = Version()
	return m
}

func describeRuntime(mod *symbols.Module, plan *probes.Plan) profile.Runtime {
	return profile.Runtime{
		Name: plan.Runtime.String(), Path: mod.Path, Version: plan.Version(),
		BuildID: plan.Object.BuildID(), Probes: len(plan.Placements), Missing: plan.Missing,
	}
}

// fileID identifies a file: it is the same for all mappings of the file.
type fileID struct{ dev, inode uint64 }

func idOf(m *symbols.Module) fileID { return fileID{m.Dev, m.Inode} }
