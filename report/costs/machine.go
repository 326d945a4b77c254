package costs

import (
	"fmt"
	"strings"

	"ompp-attach/system"
)

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (t *text) machine() {
	m := &t.p.Machine
	t.printf("System profile of %s, %s\n", m.Host, t.p.Taken.Format("2006-01-02 15:04"))
	rows := [][]string{{"CPU", strings.Trim(orUnknown(m.Model)+", "+m.Architecture, ", ")}}
	row := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	row("", strings.Join([]string{plural(m.Sockets, "socket", "sockets"), plural(m.Cores, "core", "cores"), plural(m.CPUs, "CPU", "CPUs")}, ", ")+
		fmt.Sprintf("; measured on %s (%s)", plural(m.Affinity, "CPU", "CPUs"), m.AffinityList))
	if m.Quota > 0 {
		row("", fmt.Sprintf("a control group allows %.3g CPUs' time", m.Quota))
	}
	if m.Virtual != "" {
		row("", "a virtual machine ("+m.Virtual+"): its host decides what the CPUs are")
	}
	var mhz []string
	for _, f := range []struct {
		name string
		mhz  float64
	}{{"base", m.BaseMHz}, {"most", m.MaxMHz}, {"now", m.NowMHz}} {
		if f.mhz > 0 {
			mhz = append(mhz, fmt.Sprintf("%s %.0f MHz", f.name, f.mhz))
		}
	}
	if m.Governor != "" {
		mhz = append(mhz, "governor "+m.Governor)
	}
	row("frequency", strings.Join(mhz, ", "))
	for i, c := range m.Caches {
		name := "caches"
		if i > 0 {
			name = ""
		}
		rows = append(rows, []string{name, fmt.Sprintf("L%d %s: %d x %s, each for %s, lines of %d B",
			c.Level, strings.ToLower(c.Type), c.Count, amount(c.Bytes), plural(c.SharedBy, "CPU", "CPUs"), c.Line)})
	}
	memory := amount(m.MemoryBytes) + fmt.Sprintf(", pages of %s", amount(uint64(m.PageBytes)))
	if m.HugePages != "" {
		memory += ", huge pages: " + m.HugePages
	}
	row("memory", memory)
	if len(m.NUMA) > 1 {
		for _, n := range m.NUMA {
			row(fmt.Sprintf("node %d", n.Node), fmt.Sprintf("CPUs %s, %s, distances %v", n.CPUs, amount(n.MemoryBytes), n.Distances))
		}
	}
	t.table(len(rows[0]), rows)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown model"
	}
	return s
}

func (t *text) software() {
	s := &t.p.Software
	t.section("Software")
	var rows [][]string
	row := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	row("kernel", strings.Trim(s.Kernel+", "+s.OS, ", "))
	row("compiler", tool(s.Compiler, s.CompilerOptions))
	row("OpenMP", library(s.OpenMPRuntime))
	row("MPI compiler", tool(s.MPICompiler, nil))
	row("MPI", library(s.MPILibrary))
	row("launcher", s.Launcher)
	for _, e := range s.Environment {
		row("environment", e.Name+"="+e.Value)
	}
	t.table(2, rows)
}

func tool(t *system.Tool, options []string) string {
	if t == nil {
		return ""
	}
	return strings.TrimSpace(t.Command+" "+strings.Join(options, " ")) + ": " + t.Version
}

func library(l *system.Library) string {
	if l == nil || l.Path == "" {
		return l.String()
	}
	return l.String() + ", " + l.Path
}
