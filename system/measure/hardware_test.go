package measure

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/system"
)

// twoSockets has two sockets of two cores of two hardware threads. CPU n and n+4 are one core, and
// each socket has two last-level caches if split.
func twoSockets(split bool) fstest.MapFS {
	root := fstest.MapFS{}
	file := func(name, text string) { root[name] = &fstest.MapFile{Data: []byte(text + "\n")} }
	file("sys/devices/system/cpu/online", "0-7")
	file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\ncpu MHz\t\t: 1999.5\nflags\t\t: fpu hypervisor sse")
	file("proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB")
	file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-6")
	file("proc/sys/kernel/hostname", "node7")
	file("sys/class/dmi/id/sys_vendor", "QEMU")
	file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
	file("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000")
	for cpu := range 8 {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		core, socket := cpu%4, cpu%4/2
		siblings := fmt.Sprintf("%d,%d", core, core+4)
		inSocket := fmt.Sprintf("%d-%d,%d-%d", 2*socket, 2*socket+1, 2*socket+4, 2*socket+5)
		file(dir+"topology/physical_package_id", fmt.Sprint(socket))
		file(dir+"topology/thread_siblings_list", siblings)
		file(dir+"topology/core_siblings_list", inSocket)
		for i, c := range []struct{ level, kind, size, shared string }{
			{"1", "Data", "32K", siblings}, {"3", "Unified", "4096K", inSocket},
		} {
			if split && c.level == "3" {
				c.shared = siblings
			}
			cache := dir + fmt.Sprintf("cache/index%d/", i)
			file(cache+"level", c.level)
			file(cache+"type", c.kind)
			file(cache+"size", c.size)
			file(cache+"shared_cpu_list", c.shared)
			file(cache+"coherency_line_size", "64")
		}
	}
	file("sys/devices/system/node/online", "0-1")
	for n := range 2 {
		dir := fmt.Sprintf("sys/devices/system/node/node%d/", n)
		file(dir+"cpulist", fmt.Sprintf("%d-%d", 2*n, 2*n+1))
		file(dir+"distance", "10 21")
		file(dir+"meminfo", fmt.Sprintf("Node %d MemTotal:       512 kB", n))
	}
	return root
}

func TestHardware(t *testing.T) {
	got := hardware(twoSockets(false))
	want := system.Machine{
		Host: "node7", Architecture: got.Architecture, Model: "Some CPU @ 2.0GHz", Virtual: "QEMU", CPUs: 8, Affinity: 7, AffinityList: "0-6",
		Sockets: 2, Cores: 4, ThreadsPerCore: 2, MaxMHz: 3500, NowMHz: 1999.5, MemoryBytes: 1 << 20, PageBytes: got.PageBytes, HugePages: "madvise",
		Caches: []system.Cache{
			{Level: 1, Type: "Data", Bytes: 32 << 10, Line: 64, SharedBy: 2, Count: 4},
			{Level: 3, Type: "Unified", Bytes: 4 << 20, Line: 64, SharedBy: 4, Count: 2},
		},
		NUMA: []system.NUMA{
			{Node: 0, CPUs: "0-1", MemoryBytes: 512 << 10, Distances: []int{10, 21}},
			{Node: 1, CPUs: "2-3", MemoryBytes: 512 << 10, Distances: []int{10, 21}},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestNothingKnown: a kernel that tells nothing leaves fields empty.
func TestNothingKnown(t *testing.T) {
	got := hardware(fstest.MapFS{})
	if got.Model != "" || got.CPUs != 0 || got.Caches != nil || got.NUMA != nil {
		t.Errorf("of nothing: %+v", got)
	}
	m := &measurement{p: &system.Profile{Machine: got}, root: fstest.MapFS{}}
	if cache, array, fits := m.arrays(); m.cpus() != 1 || m.pairs() != nil || cache == 0 || array == 0 || !fits {
		t.Errorf("%d CPUs, pairs %v, arrays of %d and %d bytes, fit: %t", m.cpus(), m.pairs(), cache, array, fits)
	}
}

func TestPairs(t *testing.T) {
	for _, c := range []struct {
		split bool
		cpus  string
		want  []pair
	}{
		{false, "0-7", []pair{{0, 1}, {0, 2}, {0, 4}}}, // one cache, node, core
		{true, "0-7", []pair{{0, 1}, {0, 2}, {0, 4}}},  // one socket, node, core
		{false, "1,5", []pair{{1, 5}}},
		{false, "3", []pair{{3, 3}}},
	} {
		m := &measurement{p: &system.Profile{Machine: system.Machine{AffinityList: c.cpus}}, root: twoSockets(c.split)}
		if d := cmp.Diff(c.want, m.pairs(), cmp.AllowUnexported(pair{})); d != "" {
			t.Errorf("CPUs %s: %s", c.cpus, d)
		}
	}
}

func TestOthers(t *testing.T) {
	// user nice system idle iowait irq softirq steal guest, in hundredths of a second
	root := fstest.MapFS{"proc/stat": {Data: []byte("cpu 9 9 9 9\ncpu0 100 0 50 7000 900 0 10 40 30 0\ncpu1 100 0 0 0 0 0 0 0 0 0\n")}}
	if got := (&others{root: root, names: []string{"cpu0"}}).used(); got != 2 {
		t.Errorf("cpu0 was used for %g s, want 2", got)
	}
}
