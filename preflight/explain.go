package preflight

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// The kernel versions that are needed; the comments in package bpf give the reasons.
const (
	// From here on the memory of BPF maps does not count as locked memory.
	accountMajor, accountMinor = 5, 11
)

// least returns the oldest kernel version that serves on an architecture, and what came with it.
func least(arch string) (major, minor int, brought string) {
	if arch == "arm64" {
		return 5, 18, "programs that change memory atomically" // 1902472b4fa9, for the record rings
	}
	return 5, 15, "probes that carry a cookie"
}

// tooOld says why the kernel cannot serve, or nothing.
func (m *Machine) tooOld() string {
	major, minor, brought := least(runtime.GOARCH)
	if m.Major == 0 || m.atLeast(major, minor) {
		return ""
	}
	return fmt.Sprintf("%s came with %d.%d", brought, major, minor)
}

// needed are the capabilities without which nothing can be measured. This was tried: with these two
// alone, run and attach work for the user's own processes; with CAP_SYS_PTRACE also for other
// users' processes.
var needed = []Capability{BPF, Perfmon}

// Blocked says in one sentence why nothing can be measured, and what to do.
type Blocked struct {
	Reason, Remedy string
	cause          error
}

// Error implements error.
func (b *Blocked) Error() string {
	if b.Remedy == "" {
		return b.Reason
	}
	return b.Reason + ": " + b.Remedy
}

// Unwrap returns the kernel's error.
func (b *Blocked) Unwrap() error { return b.cause }

// Explain finds the reason on this machine for an error from loading the kernel side. The kernel's
// own error seldom tells the reason: it is EPERM for a dozen of reasons, and libraries then suspect
// the limit of locked memory.
func (m *Machine) Explain(err error) *Blocked {
	b := m.explain(err)
	b.cause = err
	return b
}

func (m *Machine) explain(err error) *Blocked {
	if old := m.tooOld(); old != "" {
		return &Blocked{Reason: "kernel " + m.Release + " is too old, " + old, Remedy: "use a newer kernel"}
	}
	denied := errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) && !isVerifier(err)
	missing := m.Caps.Missing(needed...)
	switch {
	case denied && m.UserNS:
		return &Blocked{
			Reason: "not permitted to load BPF programs, this process is in a user namespace (a rootless container), where capabilities do not count",
			Remedy: "run it outside, on the host",
		}
	case denied && len(missing) > 0:
		return &Blocked{Reason: "not permitted to load BPF programs, this process lacks " + list(missing), Remedy: m.gain()}
	case !m.BTF:
		return &Blocked{
			Reason: "this kernel has no BTF type information (/sys/kernel/btf/vmlinux is missing)",
			Remedy: "use a kernel that was built with CONFIG_DEBUG_INFO_BTF=y, as distributions' kernels are",
		}
	case m.Lockdown == "confidentiality" && (denied || isVerifier(err) || errors.Is(err, unix.EINVAL)):
		return &Blocked{
			Reason: "the kernel is locked down (confidentiality), which forbids BPF programs to read memory",
			Remedy: "boot without lockdown=confidentiality; integrity does not hinder",
		}
	case denied && m.Seccomp:
		return &Blocked{
			Reason: "not permitted to load BPF programs although this process has the capabilities, a seccomp filter is on it (a container's)",
			Remedy: "start the container with --security-opt seccomp=unconfined, or run outside",
		}
	case denied:
		return &Blocked{
			Reason: fmt.Sprintf("not permitted to load BPF programs although this process has the capabilities (%s)", lastLine(err)),
			Remedy: "look in the kernel's log (dmesg, audit) for the security module that forbids it",
		}
	case errors.Is(err, unix.ENOMEM):
		return &Blocked{
			Reason: "not enough memory for the kernel side (a ring of up to 16 MiB for each processor, and one more)",
			Remedy: "free some, or raise the memory limit of this control group",
		}
	case !m.Uprobes && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.EOPNOTSUPP)):
		return &Blocked{
			Reason: "this kernel has no uprobes",
			Remedy: "use a kernel that was built with CONFIG_UPROBE_EVENTS=y, as distributions' kernels are",
		}
	case isVerifier(err):
		return &Blocked{
			Reason: fmt.Sprintf("kernel %s refuses the BPF programs (%s)", m.Release, lastLine(err)),
			Remedy: "this is a fault of ompp-attach: please report it with the output of `ompp-attach check`, or use another kernel",
		}
	}
	return &Blocked{Reason: "cannot load the kernel side: " + oneLine(err)}
}

// gain says how the user gets the missing privileges.
func (m *Machine) gain() string {
	const all = "CAP_BPF, CAP_PERFMON and, for other users' processes, CAP_SYS_PTRACE"
	switch {
	case m.UserNS:
		return "run it outside of this user namespace (rootless container), where capabilities do not count"
	case m.UID == 0: // a container's root
		return "start the container with --cap-add BPF --cap-add PERFMON --cap-add SYS_PTRACE, or run on the host"
	case m.NoNewPrivs:
		return "this process cannot gain privileges (no_new_privs); start it from a shell that may, with sudo or with " + all
	}
	path := cmp.Or(m.Executable, "ompp-attach")
	if m.NoSuid {
		return "run it with sudo; or copy " + path + " to where files may have capabilities (its file system is mounted nosuid), and give the copy what it needs: sudo setcap " + setcap + " COPY"
	}
	return "run it with sudo, or give it what it needs once: sudo setcap " + setcap + " " + path
}

// setcap is the argument of setcap(8) that gives a file all capabilities that the tool needs.
const setcap = "cap_bpf,cap_perfmon,cap_sys_ptrace+ep"

func isVerifier(err error) bool {
	var v *ebpf.VerifierError
	// Without a log the "verifier's" error is the system call's.
	return errors.As(err, &v) && len(v.Log) > 0
}

// lastLine returns the last line of an error of many lines, which says what failed.
func lastLine(err error) string {
	ls := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(ls[len(ls)-1])
}

// oneLine returns the text of an error as one line.
func oneLine(err error) string {
	if err == nil {
		return "unknown reason"
	}
	var parts []string
	for l := range strings.Lines(err.Error()) {
		if l = strings.TrimSpace(l); l != "" {
			parts = append(parts, l)
		}
	}
	return strings.Join(parts, "; ")
}
