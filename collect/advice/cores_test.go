package advice

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"ompp-attach/profile"
)

func TestCores(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for _, tc := range []struct {
		name   string
		files  fstest.MapFS
		number int
		words  string
	}{
		{"affinity", fstest.MapFS{
			"proc/7/task/7/status":  file("Name:\tx\nCpus_allowed_list:\t0-3,8\n"),
			"proc/7/cgroup":         file("0::/\n"),
			"sys/fs/cgroup/cpu.max": file("max 100000\n"),
		}, 5, "5 cores (its affinity mask)"},
		{"threads bound one by one", fstest.MapFS{
			"proc/7/task/7/status": file("Cpus_allowed_list:\t2\n"),
			"proc/7/task/8/status": file("Cpus_allowed_list:\t5\n"),
		}, 2, "2 cores (its affinity mask)"},
		{"limit of a parent group", fstest.MapFS{
			"proc/7/task/7/status":        file("Cpus_allowed_list:\t0-15\n"),
			"proc/7/cgroup":               file("0::/a/b\n"),
			"sys/fs/cgroup/a/cpu.max":     file("250000 100000\n"),
			"sys/fs/cgroup/a/b/cpu.max":   file("max 100000\n"),
			"sys/fs/cgroup/other/cpu.max": file("100000 100000\n"),
		}, 3, "3 cores (its control group's limit, 2.5 of the 16 in its affinity mask)"},
		{"version 1", fstest.MapFS{
			"proc/7/task/7/status": file("Cpus_allowed_list:\t0-15\n"),
			"proc/7/cgroup":        file("4:cpu,cpuacct:/job\n1:name=systemd:/x\n"),
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us":  file("100000\n"),
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": file("100000\n"),
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":      file("-1\n"),
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":     file("100000\n"),
		}, 1, "1 core (its control group's limit, 1 of the 16 in its affinity mask)"},
		{"limit above the mask", fstest.MapFS{
			"proc/7/task/7/status":  file("Cpus_allowed_list:\t0-1\n"),
			"proc/7/cgroup":         file("0::/\n"),
			"sys/fs/cgroup/cpu.max": file("800000 100000\n"),
		}, 2, "2 cores (its affinity mask)"},
		{"nonsense", fstest.MapFS{
			"proc/7/task/7/status": file("Cpus_allowed_list:\tx-3,4-y,,1-99999999\n"),
			"proc/7/cgroup":        file("0\n0::\n"),
		}, 1<<16 - 1, "65535 cores"},
		{"gone", fstest.MapFS{}, 0, "0 cores"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var c Cores
			c.Read(tc.files, 7)
			if got := c.number(); got != tc.number {
				t.Errorf("%d cores, want %d", got, tc.number)
			}
			if got := c.String(); !strings.HasPrefix(got, tc.words) {
				t.Errorf("%q, want %q", got, tc.words)
			}
		})
	}
}

// The limit is that of the control group whose processes share it: of equal limits the parent's.
func TestQuotaGroup(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/7/task/7/status":        "Cpus_allowed_list:\t0-15\n",
		"proc/7/cgroup":               "0::/a/b\n",
		"sys/fs/cgroup/a/cpu.max":     "150000 100000\n",
		"sys/fs/cgroup/a/b/cpu.max":   "150000 100000\n",
		"sys/fs/cgroup/a/b/c/cpu.max": "100000 100000\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var c Cores
	c.Read(os.DirFS(root), 7)
	parent, err := os.Stat(filepath.Join(root, "sys/fs/cgroup/a"))
	if err != nil {
		t.Fatal(err)
	}
	want := &profile.Quota{CPUs: 1.5, Group: parent.Sys().(*syscall.Stat_t).Ino}
	if got := c.Quota(); got == nil || *got != *want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
