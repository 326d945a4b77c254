package preflight

import (
	"bytes"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
)

// Machine holds what the kernel tells of itself and of this process.
type Machine struct {
	Release      string // of the kernel, as `uname -r` prints it
	Major, Minor int    // of Release; 0 if they cannot be read from it
	BTF          bool   // the kernel has type information (/sys/kernel/btf/vmlinux)
	Caps         Caps   // effective capabilities of this process
	UID          int    // effective
	UserNS       bool   // this process is in a user namespace other than the first
	NoNewPrivs   bool   // this process cannot gain privileges
	Seccomp      bool   // a seccomp filter is on this process
	Paranoid     string // kernel.perf_event_paranoid; "" if it does not exist
	Unprivileged string // kernel.unprivileged_bpf_disabled; "" if it does not exist
	Lockdown     string // none, integrity, confidentiality; "": no such security module
	Uprobes      bool   // the kernel has uprobes as perf events
	Cores        int    // on which this process may run
	Executable   string // this program's file, for advice
	NoSuid       bool   // Executable is on a nosuid mount: it gives no capabilities
}

// Root is the file system of this machine.
func Root() fs.FS { return os.DirFS("/") }

// Look reads the facts from a file system with /proc and /sys. A fact that cannot be read keeps its
// zero value.
func Look(fsys fs.FS) Machine {
	m := Machine{
		Release:      line(fsys, "proc/sys/kernel/osrelease"),
		Paranoid:     line(fsys, "proc/sys/kernel/perf_event_paranoid"),
		Unprivileged: line(fsys, "proc/sys/kernel/unprivileged_bpf_disabled"),
		Lockdown:     chosen(line(fsys, "sys/kernel/security/lockdown")),
	}
	m.Major, m.Minor = bpf.KernelVersion(m.Release)
	m.BTF = exists(fsys, "sys/kernel/btf/vmlinux")
	m.Uprobes = exists(fsys, "sys/bus/event_source/devices/uprobe")
	if self, err := fs.ReadFile(fsys, "proc/self/status"); err == nil {
		st := parseStatus(self)
		m.UID, _ = strconv.Atoi(field(st["Uid"], 1))
		caps, _ := strconv.ParseUint(st["CapEff"], 16, 64)
		m.Caps = Caps(caps)
		m.NoNewPrivs = st["NoNewPrivs"] == "1"
		m.Seccomp = st["Seccomp"] == seccompFilter
	}
	// The first namespace maps every user to itself.
	ids := strings.Fields(line(fsys, "proc/self/uid_map"))
	m.UserNS = len(ids) == 3 && (ids[0] != "0" || ids[1] != "0" || ids[2] != "4294967295")
	m.Executable, _ = os.Executable()
	m.Cores = runtime.NumCPU()
	var st unix.Statfs_t
	m.NoSuid = unix.Statfs(m.Executable, &st) == nil && st.Flags&unix.ST_NOSUID != 0
	return m
}

// seccompFilter is the mode of a process under a seccomp filter (proc(5)).
const seccompFilter = "2"

// atLeast tells whether the kernel is of this version or newer.
func (m *Machine) atLeast(major, minor int) bool {
	return m.Major > major || m.Major == major && m.Minor >= minor
}

// chosen returns the word in brackets of a text such as "none [integrity] confidentiality".
func chosen(s string) string {
	_, s, _ = strings.Cut(s, "[")
	s, _, _ = strings.Cut(s, "]")
	return s
}

func line(fsys fs.FS, name string) string {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return ""
	}
	b, _, _ = bytes.Cut(b, []byte("\n"))
	return strings.TrimSpace(string(b))
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// parseStatus reads /proc/PID/status: "Name:\tvalue" lines.
func parseStatus(b []byte) map[string]string {
	st := map[string]string{}
	for l := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(l, ":"); ok {
			st[k] = strings.TrimSpace(v)
		}
	}
	return st
}

func field(s string, n int) string {
	if f := strings.Fields(s); n < len(f) {
		return f[n]
	}
	return ""
}
