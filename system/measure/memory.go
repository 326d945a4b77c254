package measure

import (
	"path"
	"strconv"
	"strings"
)

// freeMemory is how many bytes the programs may use before the kernel runs out of memory, or ends
// processes of a control group of ours. Zero: the kernel tells nothing.
func (f facts) freeMemory() (least uint64) {
	for _, name := range []string{"MemTotal", "MemAvailable"} { // Linux 3.14 has the second
		if n := kilobytes(f.after(name, "proc/meminfo")); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	for line := range strings.Lines(f.text("proc/self/cgroup")) {
		group := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(group) != 3 {
			continue
		}
		var mounts []string
		switch {
		case group[0] == "0" && group[1] == "": // cgroup version 2, alone or beside version 1
			mounts = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}
		case strings.Contains(","+group[1]+",", ",memory,"):
			mounts = []string{"sys/fs/cgroup/" + group[1], "sys/fs/cgroup/memory"}
		}
		for _, mount := range mounts {
			// A container may see its own group as the mount, whatever its group's name is.
			for dir := path.Join("/", group[2]); ; dir = path.Dir(dir) {
				if n, limited := f.room(mount + dir); limited && (least == 0 || n < least) {
					least = max(n, 1)
				}
				if dir == "/" {
					break
				}
			}
		}
	}
	return least
}

// room is how many bytes the processes of a control group may use more. Pages of files that nobody
// has used of late are no hindrance: the kernel drops them first.
func (f facts) room(dir string) (bytes uint64, limited bool) {
	for _, names := range []struct{ limit, usage, files string }{
		{"memory.max", "memory.current", "inactive_file"},
		{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}, // version 1
	} {
		limit, err := strconv.ParseUint(f.text(dir, names.limit), 10, 64) // "max": no limit
		if err != nil {
			continue
		}
		usage, _ := strconv.ParseUint(f.text(dir, names.usage), 10, 64)
		for line := range strings.Lines(f.text(dir, "memory.stat")) {
			if n, ok := strings.CutPrefix(line, names.files+" "); ok {
				files, _ := strconv.ParseUint(strings.TrimSpace(n), 10, 64)
				usage -= min(usage, files)
			}
		}
		return limit - min(limit, usage), true
	}
	return 0, false
}
