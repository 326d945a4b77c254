package preflight

import (
	"fmt"
	"strings"

	"ompp-attach/bpf"
)

// State is the judgement on one fact.
type State uint8

// The judgements.
const (
	OK      State = iota
	Note          // it works, but is less than it could be
	Problem       // it prevents measuring
)

// String returns the judgement's word.
func (s State) String() string { return [...]string{"ok", "note", "problem"}[s] }

// Line is one fact with its judgement.
type Line struct {
	What        string
	State       State
	Consequence string
	Remedy      string // "" if there is none, or nothing to remedy
}

// Lines judges the facts of the machine. A fact is a problem only if the trial failed.
func (m *Machine) Lines(t Trial) []Line {
	ls := append([]Line{m.kernelLine(t)}, m.crowdLines()...)
	ls = append(ls, m.btfLine(t))
	ls = append(ls, m.capLines(t)...)
	ls = append(ls, m.sysctlLines()...)
	ls = append(ls, m.lockdownLine(t))
	if m.UserNS {
		ls = append(ls, hinders(t, "user namespace", "not the first one: capabilities held here do not count for BPF", "run outside, on the host"))
	}
	if m.Seccomp {
		ls = append(ls, hinders(t, "seccomp", "a filter is on this process and may forbid bpf() and perf_event_open()", "containers: --security-opt seccomp=unconfined"))
	}
	ls = append(ls, m.trialLines(t)...)
	// A remedy is shown only once.
	said := map[string]bool{}
	for i := range ls {
		if said[ls[i].Remedy] {
			ls[i].Remedy = ""
		}
		said[ls[i].Remedy] = true
	}
	return ls
}

// hinders returns a fact that is a problem only if the trial failed.
func hinders(t Trial, what, text, remedy string) Line {
	if t.Works() {
		return Line{what, OK, text + "; the trial below succeeds all the same", ""}
	}
	return Line{what, Problem, text, remedy}
}

func (m *Machine) kernelLine(t Trial) Line {
	switch {
	case m.Major == 0:
		return Line{"kernel", Note, "version not known", ""}
	case m.tooOld() != "":
		return Line{"kernel", Problem, m.Release + ": " + m.tooOld(), "use a newer kernel"}
	case m.SeccompKills(t.Mode):
		return Line{"kernel", Note, m.Release + ": processes under a seccomp filter (containers) are refused, since return probes may kill them", "use a kernel from 6.14 on, or run those without the filter"}
	}
	return Line{"kernel", OK, m.Release, ""}
}

// SeccompKills tells whether the kernel may kill a process under a seccomp filter. From Linux 6.11
// on, a return probe enters a system call of its own. Only 6.14, and stable updates of early 2025,
// hide that system call from seccomp filters.
func (m *Machine) SeccompKills(mode bpf.Mode) bool {
	return mode != bpf.Perf && m.Major == 6 && m.Minor >= 11 && m.Minor < 14
}

// crowd is how many threads' hits hold each other up for longer than a hit takes otherwise.
const crowd = 8

// HitsContend tells whether the hits of so many threads hold each other up in the kernel. Before
// Linux 6.14 the threads of a process queue there (commits e0925f2dc4de, cd7bdd9d46a9): at 64
// processors a hit took 8 to 20 us. What a hit costs is measured with one thread.
func (m *Machine) HitsContend(threads int) bool {
	return m.Major != 0 && !m.atLeast(6, 14) && threads >= crowd
}

func (m *Machine) crowdLines() []Line {
	if !m.HitsContend(m.Cores) {
		return nil
	}
	return []Line{{"many threads", Note, fmt.Sprintf("before Linux 6.14 hits of many threads at one time hold each other up; the costs below are those of one thread, and %d may pay several times as much", m.Cores),
		"use a kernel from 6.14 on, or fewer threads; samples (--sample task-clock) tell what probes took"}}
}

func (m *Machine) btfLine(t Trial) Line {
	if m.BTF {
		return Line{"BTF", OK, "the kernel's types are known", ""}
	}
	return hinders(t, "BTF", "/sys/kernel/btf/vmlinux is missing", "use a kernel that was built with CONFIG_DEBUG_INFO_BTF=y")
}

func (m *Machine) capLines(t Trial) []Line {
	var ls []Line
	switch missing := m.Caps.Missing(needed...); {
	case m.UserNS: // capabilities in a user namespace are judged on a line of their own
	case len(missing) > 0:
		ls = append(ls, hinders(t, "privileges", list(missing)+" missing: no BPF program can be loaded", m.gain()))
	default:
		ls = append(ls, Line{"privileges", OK, list(needed) + " held: BPF programs may be loaded", ""})
	}
	switch {
	case m.UserNS:
	case m.Caps.Has(SysPtrace):
		ls = append(ls, Line{"other users", OK, "CAP_SYS_PTRACE held: their processes may be measured; regions have names where this user may read the program", ""})
	default:
		ls = append(ls, Line{"other users", Note, "CAP_SYS_PTRACE missing: only this user's own processes may be measured", m.gain()})
	}
	if !m.Caps.Has(CheckpointRestore) {
		ls = append(ls, Line{"replaced files", Note, "CAP_CHECKPOINT_RESTORE missing: programs whose libraries were replaced on disk since they started cannot be measured", "restart such a program, or use sudo"})
	}
	if !m.atLeast(accountMajor, accountMinor) && !m.Caps.Has(SysResource) {
		ls = append(ls, hinders(t, "locked memory", "CAP_SYS_RESOURCE missing: before kernel 5.11 BPF memory counts as locked", "ulimit -l unlimited, or use sudo"))
	}
	return ls
}

// sysctlLines judges two settings that users ask about. This was tried: with perf_event_paranoid
// and unprivileged_bpf_disabled at 2, the capabilities suffice. Without the capabilities, no value
// of either setting lets tracing programs be loaded.
func (m *Machine) sysctlLines() []Line {
	setting := func(what, value string) Line {
		switch {
		case value == "":
			return Line{what, OK, "not there", ""}
		case len(m.Caps.Missing(needed...)) == 0:
			return Line{what, OK, value + ": does not hinder, the capabilities override it", ""}
		}
		return Line{what, OK, value + ": does not decide; without the capabilities no value helps", ""}
	}
	return []Line{setting("perf_event_paranoid", m.Paranoid), setting("unprivileged_bpf", m.Unprivileged)}
}

func (m *Machine) lockdownLine(t Trial) Line {
	switch m.Lockdown {
	case "":
		return Line{"lockdown", OK, "not in this kernel, or not visible", ""}
	case "confidentiality":
		return hinders(t, "lockdown", "confidentiality: BPF programs may not read memory", "boot without lockdown=confidentiality")
	}
	return Line{"lockdown", OK, m.Lockdown, ""}
}

var modeTexts = map[bpf.Mode]string{
	bpf.Session: "one probe serves a call's entry and return",
	bpf.Multi:   "all probes of a library in one go, entry and return apart (kernels from 6.13 on do it in one)",
	bpf.Perf:    "one probe at a time: the same results, but attaching takes longer (kernels from 6.6 on place all in one go)",
}

func (m *Machine) trialLines(t Trial) []Line {
	if t.Load != nil {
		b := m.Explain(t.Load)
		return []Line{{"probes", Problem, b.Reason, b.Remedy}}
	}
	probes := Line{"probes", OK, fmt.Sprintf("loaded and attached for trial by %s: %s", t.Mode, modeTexts[t.Mode]), ""}
	if t.Mode == bpf.Perf {
		probes.State = Note
	}
	if t.Follow != nil {
		b := m.Explain(t.Follow)
		return []Line{probes, {"following", Problem, "new programs, children and libraries are not seen: " + b.Reason, b.Remedy}}
	}
	return []Line{probes, {"following", OK, "children, exec and libraries that are loaded later are seen", ""}}
}

// Format writes lines as a table, with each remedy below its fact.
func Format(ls []Line) string {
	width := 0
	for _, l := range ls {
		width = max(width, len(l.What))
	}
	var b strings.Builder
	for _, l := range ls {
		fmt.Fprintf(&b, "%-*s  %-7s  %s\n", width, l.What, l.State, l.Consequence)
		if l.Remedy != "" {
			fmt.Fprintf(&b, "%-*s  %-7s  -> %s\n", width, "", "", l.Remedy)
		}
	}
	return b.String()
}
