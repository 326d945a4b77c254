package advice

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"strconv"
	"strings"
	"syscall"

	"ompp-attach/profile"
)

// Cores is how many processors a process may use, and what limits this number.
type Cores struct {
	mask  map[int]bool  // processors on which any of its threads may run
	quota profile.Quota // that its control groups allow; 0 CPUs: no limit
}

// number is how many threads can run at a time, or 0 if that is not known. A quota of a number of
// cores and a half is rounded up: the half core can run a thread, too.
func (c *Cores) number() int {
	n := len(c.mask)
	if q := int(math.Ceil(c.quota.CPUs)); q > 0 && (n == 0 || q < n) {
		n = q
	}
	return n
}

// String says for people how many cores the process may use, and what limits it.
func (c *Cores) String() string {
	n := "1 core"
	if c.number() != 1 {
		n = fmt.Sprintf("%d cores", c.number())
	}
	if c.quota.CPUs > 0 && int(math.Ceil(c.quota.CPUs)) < len(c.mask) {
		return fmt.Sprintf("%s (its control group's limit, %.3g of the %d in its affinity mask)", n, c.quota.CPUs, len(c.mask))
	}
	return n + " (its affinity mask)"
}

// Mask returns how many processors the affinity masks have.
func (c *Cores) Mask() int { return len(c.mask) }

// CPUs returns the processors of the affinity masks.
func (c *Cores) CPUs() profile.CPUs { return profile.CPUsOf(c.mask) }

// Quota returns what the control groups allow; nil: no limit.
func (c *Cores) Quota() *profile.Quota {
	if c.quota.CPUs == 0 {
		return nil
	}
	q := c.quota
	return &q
}

// Copy copies what read changes.
func (c *Cores) Copy() Cores { return Cores{maps.Clone(c.mask), c.quota} }

// Read adds the processors that the process may use now. It takes the union over the threads, since
// a runtime may have bound each thread to a core of its own (OMP_PROC_BIND).
func (c *Cores) Read(root fs.FS, pid int) {
	proc := fmt.Sprintf("proc/%d", pid)
	tasks, err := fs.ReadDir(root, proc+"/task")
	if err != nil {
		return
	}
	if c.mask == nil {
		c.mask = map[int]bool{}
	}
	for _, t := range tasks {
		status, err := fs.ReadFile(root, path.Join(proc, "task", t.Name(), "status"))
		if err != nil {
			continue
		}
		for l := range strings.Lines(string(status)) {
			if list, ok := strings.CutPrefix(l, "Cpus_allowed_list:"); ok {
				profile.CPUs(list).AddTo(c.mask)
			}
		}
	}
	if groups, err := fs.ReadFile(root, proc+"/cgroup"); err == nil {
		c.quota = cgroupQuota(root, string(groups))
	}
}

// cgroupQuota returns the tightest limit of a process's control groups and
// their parents, from the lines of /proc/PID/cgroup (cgroups(7)).
func cgroupQuota(root fs.FS, groups string) (least profile.Quota) {
	for l := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(l), ":", 3)
		if len(f) != 3 {
			continue
		}
		var mounts []string
		switch {
		case f[0] == "0" && f[1] == "": // cgroup version 2, alone or beside version 1
			mounts = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}
		case strings.Contains(","+f[1]+",", ",cpu,"):
			mounts = []string{"sys/fs/cgroup/" + f[1], "sys/fs/cgroup/cpu"}
		}
		for _, mount := range mounts {
			for dir := path.Join(mount, f[2]); strings.HasPrefix(dir, mount); dir = path.Dir(dir) {
				// Of equal limits the parent's: more processes share it.
				if q := quotaOf(root, dir); q > 0 && (least.CPUs == 0 || q <= least.CPUs) {
					least = profile.Quota{CPUs: q, Group: inode(root, dir)}
				}
			}
		}
	}
	return least
}

// inode returns the inode of a directory; 0: not known.
func inode(root fs.FS, dir string) uint64 {
	st, err := fs.Stat(root, dir)
	if err != nil {
		return 0
	}
	if st, ok := st.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

func quotaOf(root fs.FS, dir string) float64 {
	number := func(name string) (text string) {
		b, _ := fs.ReadFile(root, path.Join(dir, name))
		return strings.TrimSpace(string(b))
	}
	quota, period, ok := strings.Cut(number("cpu.max"), " ")
	if !ok {
		quota, period = number("cpu.cfs_quota_us"), number("cpu.cfs_period_us")
	}
	q, err := strconv.ParseFloat(quota, 64) // "max" or -1: no limit
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}
