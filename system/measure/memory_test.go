package measure

import (
	"testing"
	"testing/fstest"

	"ompp-attach/system"
)

// TestArraysFitMemory: the arrays take a tenth each of what is free here and in each control group.
func TestArraysFitMemory(t *testing.T) {
	const (
		gib    = 1 << 30
		plenty = "MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\n" // 64 and 32 GiB
		v2     = "0::/a/b\n"
		v1     = "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		array uint64
		fits  bool
	}{
		"caches":    {map[string]string{"proc/meminfo": plenty}, 2 * gib, true},
		"total":     {map[string]string{"proc/meminfo": "MemTotal: 10485760 kB\n"}, gib, true},
		"available": {map[string]string{"proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 10485760 kB\n"}, gib, true},
		"own group": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": v2,
			"sys/fs/cgroup/a/b/memory.max": "10737418240", "sys/fs/cgroup/a/b/memory.current": "0", "sys/fs/cgroup/a/memory.max": "max"}, gib, true},
		"group above": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": v2,
			"sys/fs/cgroup/a/memory.max": "21474836480", "sys/fs/cgroup/a/memory.current": "10737418240", "sys/fs/cgroup/a/b/memory.max": "max"}, gib, true},
		"files of a group": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": v2,
			"sys/fs/cgroup/a/memory.max": "10737418240", "sys/fs/cgroup/a/memory.current": "10737418240",
			"sys/fs/cgroup/a/memory.stat": "anon 0\ninactive_file 10737418240\nactive_file 7\n"}, gib, true},
		"version 1": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": v1,
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "10737418240"}, gib, true},
		"container's mount": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": v1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "10737418240"}, gib, true},
		"group of a namespace above": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": "0::/../..\n",
			"sys/fs/cgroup/memory.max": "10737418240"}, gib, true},
		"no limit in version 1": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": v1,
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712"}, 2 * gib, true},
		"too little for caches": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": v2,
			"sys/fs/cgroup/a/memory.max": "1073741824"}, gib / 10, false},
		"full group": {map[string]string{"proc/meminfo": plenty, "proc/self/cgroup": v2,
			"sys/fs/cgroup/a/memory.max": "1000", "sys/fs/cgroup/a/memory.current": "2000"}, 0, false},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		m := &measurement{root: root, p: &system.Profile{Machine: system.Machine{ThreadsPerCore: 1, Caches: []system.Cache{
			{Level: 1, Type: "Data", Bytes: 32 << 10, SharedBy: 1, Count: 8}, {Level: 3, Type: "Unified", Bytes: gib / 4, SharedBy: 4, Count: 2},
		}}}}
		if _, array, fits := m.arrays(); array != c.array || fits != c.fits {
			t.Errorf("%s: arrays of %d bytes, larger than the caches: %t; want %d, %t", name, array, fits, c.array, c.fits)
		}
	}
}
