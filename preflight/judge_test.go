package preflight

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
)

const everything = Caps(1<<41 - 1)

// good is a machine on which nothing is in the way.
func good() Machine {
	return Machine{Release: "6.18.0", Major: 6, Minor: 18, BTF: true, Caps: everything, Uprobes: true,
		Paranoid: "2", Unprivileged: "2", Executable: "/opt/ompp-attach"}
}

func TestExplain(t *testing.T) {
	perm := fmt.Errorf("uprobe.multi: load program: %w (MEMLOCK may be too low)\nperf: also", unix.EPERM)
	verifier := fmt.Errorf("load program: %w", &ebpf.VerifierError{Cause: unix.EACCES, Log: []string{"R1 invalid mem access"}})
	for _, tc := range []struct {
		name  string
		set   func(*Machine)
		err   error
		words []string
		not   string
	}{
		{"user without capabilities", func(m *Machine) { m.UID, m.Caps = 1000, 0 }, perm,
			[]string{"CAP_BPF and CAP_PERFMON", "sudo", "setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep /opt/ompp-attach"}, "MEMLOCK"},
		{"user on a file system without set-user-id", func(m *Machine) { m.UID, m.Caps, m.NoSuid = 1000, 0, true }, perm,
			[]string{"sudo", "nosuid", "copy /opt/ompp-attach"}, "+ep /opt"},
		{"CAP_BPF alone", func(m *Machine) { m.UID, m.Caps = 1000, CapsOf(BPF) }, perm, []string{"lacks CAP_PERFMON", "sudo"}, "lacks CAP_BPF"},
		{"container's root", func(m *Machine) { m.Caps = 0xa80425fb }, perm, []string{"CAP_BPF", "--cap-add"}, "setcap"},
		{"no new privileges", func(m *Machine) { m.UID, m.Caps, m.NoNewPrivs = 1000, 0, true }, perm, []string{"CAP_BPF", "no_new_privs"}, "setcap"},
		{"user namespace", func(m *Machine) { m.UserNS = true }, perm, []string{"user namespace", "host"}, "setcap"},
		{"seccomp", func(m *Machine) { m.Seccomp = true }, perm, []string{"seccomp", "unconfined"}, ""},
		{"security module", func(*Machine) {}, perm, []string{"security module", "dmesg"}, ""},
		{"lockdown denies", func(m *Machine) { m.Lockdown = "confidentiality" }, perm, []string{"locked down", "lockdown=confidentiality"}, ""},
		{"lockdown, helper missing", func(m *Machine) { m.Lockdown = "confidentiality" }, fmt.Errorf("load: %w", unix.EINVAL), []string{"locked down"}, ""},
		{"integrity is innocent", func(m *Machine) { m.Lockdown = "integrity" }, verifier, []string{"refuses the BPF programs"}, "locked down"},
		{"no BTF", func(m *Machine) { m.BTF = false }, fmt.Errorf("load: %w", ebpf.ErrNotSupported), []string{"BTF", "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF"}, ""},
		{"no BTF and no capabilities", func(m *Machine) { m.BTF, m.Caps = false, 0 }, perm, []string{"CAP_BPF"}, "BTF"},
		{"old kernel", func(m *Machine) { m.Release, m.Major, m.Minor = "5.10.0-28-amd64", 5, 10 }, perm, []string{"5.10.0-28-amd64", "too old", "5.15"}, "CAP_"},
		{"old major", func(m *Machine) { m.Release, m.Major, m.Minor = "4.18.0", 4, 18 }, perm, []string{"4.18.0", "too old"}, ""},
		{"no memory", func(*Machine) {}, fmt.Errorf("create: %w", unix.ENOMEM), []string{"memory", "16 MiB"}, ""},
		{"no uprobes", func(m *Machine) { m.Uprobes = false }, fmt.Errorf("attach: %w", unix.ENOENT), []string{"uprobes", "CONFIG_UPROBE_EVENTS"}, ""},
		{"verifier", func(*Machine) {}, verifier, []string{"6.18.0", "refuses", "R1 invalid mem access", "report"}, "CAP_"},
		{"anything else", func(*Machine) {}, errors.New("first\n\nsecond"), []string{"first; second"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := good()
			tc.set(&m)
			b := m.Explain(tc.err)
			got := b.Error()
			for _, w := range tc.words {
				if !strings.Contains(got, w) {
					t.Errorf("%q lacks %q", got, w)
				}
			}
			if tc.not != "" && strings.Contains(got, tc.not) {
				t.Errorf("%q blames %q", got, tc.not)
			}
			if strings.Contains(got, "\n") {
				t.Errorf("%q has several lines", got)
			}
			if !errors.Is(b, tc.err) {
				t.Error("the kernel's error is lost")
			}
		})
	}
}

// states maps each line's subject to its judgement.
func states(ls []Line) map[string]State {
	m := map[string]State{}
	for _, l := range ls {
		m[l.What] = l.State
	}
	return m
}

func TestLines(t *testing.T) {
	denied := Trial{Load: fmt.Errorf("load: %w", unix.EPERM)}
	for _, tc := range []struct {
		name  string
		set   func(*Machine)
		trial Trial
		want  map[string]State // the lines that are not OK
	}{
		{"all well", func(*Machine) {}, Trial{}, nil},
		{"perf mode", func(m *Machine) { m.Major, m.Minor = 5, 15 }, Trial{Mode: bpf.Perf}, map[string]State{"probes": Note}},
		{"multi mode", func(m *Machine) { m.Minor = 6 }, Trial{Mode: bpf.Multi}, nil},
		{"old kernel", func(m *Machine) { m.Major, m.Minor = 5, 10 }, denied,
			map[string]State{"kernel": Problem, "probes": Problem}},
		{"old kernel, locked memory", func(m *Machine) { m.Major, m.Minor, m.Caps = 5, 10, everything&^CapsOf(SysResource) }, denied,
			map[string]State{"kernel": Problem, "locked memory": Problem, "probes": Problem}},
		{"kernel that kills under seccomp", func(m *Machine) { m.Minor = 12 }, Trial{Mode: bpf.Multi}, map[string]State{"kernel": Note}},
		{"the same with perf probes", func(m *Machine) { m.Minor = 12 }, Trial{Mode: bpf.Perf}, map[string]State{"probes": Note}},
		{"few threads on an older kernel", func(m *Machine) { m.Minor, m.Cores = 10, 4 }, Trial{Mode: bpf.Multi}, nil},
		{"many threads on an older kernel", func(m *Machine) { m.Minor, m.Cores = 10, 64 }, Trial{Mode: bpf.Multi}, map[string]State{"many threads": Note}},
		{"many threads on a newer kernel", func(m *Machine) { m.Minor, m.Cores = 14, 64 }, Trial{}, nil},
		{"no privileges", func(m *Machine) { m.UID, m.Caps = 1000, 0 }, denied,
			map[string]State{"privileges": Problem, "other users": Note, "replaced files": Note, "probes": Problem}},
		{"two capabilities", func(m *Machine) { m.UID, m.Caps = 1000, CapsOf(BPF, Perfmon) }, Trial{},
			map[string]State{"other users": Note, "replaced files": Note}},
		{"no BTF", func(m *Machine) { m.BTF = false }, Trial{Follow: ebpf.ErrNotSupported}, map[string]State{"BTF": Problem, "following": Problem}},
		{"no BTF file, but it works", func(m *Machine) { m.BTF = false }, Trial{}, nil},
		{"lockdown that hinders", func(m *Machine) { m.Lockdown = "confidentiality" }, denied, map[string]State{"lockdown": Problem, "probes": Problem}},
		{"lockdown that does not", func(m *Machine) { m.Lockdown = "confidentiality" }, Trial{}, nil},
		{"integrity", func(m *Machine) { m.Lockdown = "integrity" }, Trial{}, nil},
		{"user namespace", func(m *Machine) { m.UserNS = true }, denied, map[string]State{"user namespace": Problem, "probes": Problem}},
		{"own seccomp filter", func(m *Machine) { m.Seccomp = true }, denied, map[string]State{"seccomp": Problem, "probes": Problem}},
		{"harmless seccomp filter", func(m *Machine) { m.Seccomp = true }, Trial{}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := good()
			tc.set(&m)
			ls := m.Lines(tc.trial)
			got := states(ls)
			for what, s := range got {
				if s != tc.want[what] {
					t.Errorf("%s: %s, want %s", what, s, tc.want[what])
				}
			}
			for what := range tc.want {
				if _, ok := got[what]; !ok {
					t.Errorf("no line on %s", what)
				}
			}
			// A user who cannot measure must learn what to do.
			if !tc.trial.Works() && !slices.ContainsFunc(ls, func(l Line) bool { return l.State == Problem && l.Remedy != "" }) {
				t.Error("no remedy")
			}
			if text := Format(ls); strings.Count(text, "\n") != len(ls)+strings.Count(text, "-> ") {
				t.Errorf("table is ragged:\n%s", text)
			}
		})
	}
}

// The record rings need atomic instructions that kernels have later on arm64.
func TestLeastKernel(t *testing.T) {
	for arch, want := range map[string][2]int{"amd64": {5, 15}, "arm64": {5, 18}} {
		if major, minor, _ := least(arch); [2]int{major, minor} != want {
			t.Errorf("%s: %d.%d, want %v", arch, major, minor, want)
		}
	}
}
