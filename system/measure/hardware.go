package measure

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/advice"
	"ompp-attach/system"
)

// facts reads small files below a directory of the kernel's.
type facts struct{ root fs.FS }

// text is a file's content without blanks around it; empty if there is no such file.
func (f facts) text(elements ...string) string {
	b, _ := fs.ReadFile(f.root, path.Join(elements...))
	return strings.TrimSpace(string(b))
}

func (f facts) number(elements ...string) int {
	n, _ := strconv.Atoi(f.text(elements...))
	return n
}

// after is the rest of the first line of a file that begins with a word, behind the colon.
func (f facts) after(word string, elements ...string) string {
	for line := range strings.Lines(f.text(elements...)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == word {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

const (
	cpuDir  = "sys/devices/system/cpu"
	nodeDir = "sys/devices/system/node"
)

// hardware reads what the kernel tells of the machine.
func hardware(root fs.FS) system.Machine {
	f := facts{root}
	m := system.Machine{
		Host:         f.text("proc/sys/kernel/hostname"),
		Architecture: uname(func(u *unix.Utsname) []byte { return u.Machine[:] }),
		Model:        f.after("model name", "proc/cpuinfo"),
		AffinityList: f.after("Cpus_allowed_list", "proc/self/status"),
		BaseMHz:      float64(f.number(cpuDir, "cpu0/cpufreq/base_frequency")) / 1e3,
		MaxMHz:       float64(f.number(cpuDir, "cpu0/cpufreq/cpuinfo_max_freq")) / 1e3,
		Governor:     f.text(cpuDir, "cpu0/cpufreq/scaling_governor"),
		PageBytes:    os.Getpagesize(),
		HugePages:    chosen(f.text("sys/kernel/mm/transparent_hugepage/enabled")),
	}
	m.NowMHz, _ = strconv.ParseFloat(f.after("cpu MHz", "proc/cpuinfo"), 64)
	if strings.Contains(" "+f.after("flags", "proc/cpuinfo")+" ", " hypervisor ") {
		if m.Virtual = f.text("sys/class/dmi/id/sys_vendor"); m.Virtual == "" {
			m.Virtual = "a hypervisor"
		}
	}
	var cores advice.Cores
	cores.Read(root, os.Getpid())
	m.Affinity = len(cpuList(m.AffinityList))
	if q := cores.Quota(); q != nil {
		m.Quota = q.CPUs
	}
	m.MemoryBytes = kilobytes(f.after("MemTotal", "proc/meminfo"))
	f.topology(&m)
	f.numa(&m)
	return m
}

// topology counts sockets, cores and caches.
func (f facts) topology(m *system.Machine) {
	online := cpuList(f.text(cpuDir, "online"))
	m.CPUs = len(online)
	sockets, cores := map[string]bool{}, map[string]bool{}
	count := map[system.Cache]map[string]bool{}
	for _, cpu := range online {
		dir := path.Join(cpuDir, "cpu"+strconv.Itoa(cpu))
		sockets[f.text(dir, "topology/physical_package_id")] = true
		siblings := f.text(dir, "topology/thread_siblings_list")
		cores[siblings] = true
		m.ThreadsPerCore = max(m.ThreadsPerCore, len(cpuList(siblings)))
		for i := 0; f.text(dir, fmt.Sprintf("cache/index%d/level", i)) != ""; i++ {
			index := path.Join(dir, "cache/index"+strconv.Itoa(i))
			shared := f.text(index, "shared_cpu_list")
			c := system.Cache{
				Level: f.number(index, "level"), Type: f.text(index, "type"), Line: f.number(index, "coherency_line_size"),
				Bytes: kilobytes(f.text(index, "size")), SharedBy: len(cpuList(shared)),
			}
			if count[c] == nil {
				count[c] = map[string]bool{}
			}
			count[c][shared] = true
		}
	}
	m.Sockets, m.Cores = len(sockets), len(cores)
	for c, all := range count {
		c.Count = len(all)
		m.Caches = append(m.Caches, c)
	}
	slices.SortFunc(m.Caches, func(a, b system.Cache) int {
		return slices.Compare([]int{a.Level, len(a.Type), a.SharedBy}, []int{b.Level, len(b.Type), b.SharedBy})
	})
}

func (f facts) numa(m *system.Machine) {
	for _, n := range cpuList(f.text(nodeDir, "online")) {
		dir := path.Join(nodeDir, "node"+strconv.Itoa(n))
		node := system.NUMA{Node: n, CPUs: f.text(dir, "cpulist"),
			MemoryBytes: kilobytes(f.after(fmt.Sprintf("Node %d MemTotal", n), dir, "meminfo"))}
		for _, d := range strings.Fields(f.text(dir, "distance")) {
			distance, _ := strconv.Atoi(d)
			node.Distances = append(node.Distances, distance)
		}
		m.NUMA = append(m.NUMA, node)
	}
}

// kilobytes reads "1024K" or "24677132 kB".
func kilobytes(s string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimRight(s, " kKB"), 10, 64)
	return n << 10
}

// chosen is the word in brackets: "always [madvise] never".
func chosen(s string) string {
	_, s, _ = strings.Cut(s, "[")
	s, _, _ = strings.Cut(s, "]")
	return s
}

// cpuList reads numbers in the kernel's notation, such as "0-3,8".
func cpuList(s string) (out []int) {
	const most = 1 << 13 // CONFIG_NR_CPUS
	for part := range strings.SplitSeq(s, ",") {
		a, b, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(a)
		hi := lo
		if isRange && err == nil {
			hi, err = strconv.Atoi(b)
		}
		if err != nil {
			continue
		}
		for n := lo; n <= min(hi, most); n++ {
			out = append(out, n)
		}
	}
	return out
}

// pairs chooses two CPUs of the affinity mask for each distance that there is. The first of the two
// is the first CPU of the mask.
func (m *measurement) pairs() (out []pair) {
	f := facts{m.root}
	cpus := cpuList(m.p.Machine.AffinityList)
	if len(cpus) == 0 {
		return nil
	}
	with := func(cpu int, other int, file string) bool {
		return slices.Contains(cpuList(f.text(cpuDir, "cpu"+strconv.Itoa(cpu), file)), other)
	}
	first := cpus[0]
	last, best := "", 0
	for i := 0; ; i++ {
		index := fmt.Sprintf("cache/index%d/", i)
		level := f.number(cpuDir, "cpu"+strconv.Itoa(first), index+"level")
		if level == 0 {
			break
		}
		if level > best {
			best, last = level, index+"shared_cpu_list"
		}
	}
	seen := map[system.Where]bool{}
	for _, cpu := range cpus[1:] {
		where := system.Node
		switch {
		case with(first, cpu, "topology/thread_siblings_list"):
			where = system.Core
		case last != "" && with(first, cpu, last):
			where = system.Complex
		case with(first, cpu, "topology/core_siblings_list"):
			where = system.Socket
		}
		if !seen[where] {
			seen[where] = true
			out = append(out, pair{first, cpu})
		}
	}
	if len(out) == 0 { // one CPU
		out = append(out, pair{first, first})
	}
	return out
}
