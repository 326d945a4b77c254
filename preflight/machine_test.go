package preflight

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestLook(t *testing.T) {
	for _, tc := range []struct {
		name string
		fsys fstest.MapFS
		want Machine
	}{
		{"empty", fstest.MapFS{}, Machine{}},
		{"root on Debian 12", fstest.MapFS{
			"proc/sys/kernel/osrelease":                 file("6.1.0-18-amd64\n"),
			"proc/sys/kernel/perf_event_paranoid":       file("3\n"),
			"proc/sys/kernel/unprivileged_bpf_disabled": file("2\n"),
			"sys/kernel/security/lockdown":              file("none [integrity] confidentiality\n"),
			"sys/kernel/btf/vmlinux":                    file("x"),
			"sys/bus/event_source/devices/uprobe/type":  file("7\n"),
			"proc/self/status":                          file("Name:\tx\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nNoNewPrivs:\t0\nSeccomp:\t0\n"),
			"proc/self/uid_map":                         file("         0          0 4294967295\n"),
		}, Machine{Release: "6.1.0-18-amd64", Major: 6, Minor: 1, BTF: true, Caps: 0x1ffffffffff, Paranoid: "3", Unprivileged: "2", Lockdown: "integrity", Uprobes: true}},
		{"rootless container", fstest.MapFS{
			"proc/sys/kernel/osrelease": file("5.15.0\n"),
			"proc/self/status":          file("Uid:\t1000\t1001\t0\t0\nCapEff:\t00000000a80425fb\nNoNewPrivs:\t1\nSeccomp:\t2\n"),
			"proc/self/uid_map":         file("         0       1000          1\n         1     100000      65536\n"),
		}, Machine{Release: "5.15.0", Major: 5, Minor: 15, UID: 1001, Caps: 0xa80425fb, UserNS: true, NoNewPrivs: true, Seccomp: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Look(tc.fsys), cmpopts.IgnoreFields(Machine{}, "Executable", "Cores")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCapsHas(t *testing.T) {
	for _, tc := range []struct {
		held Caps
		ask  Capability
		want bool
	}{
		{CapsOf(BPF), BPF, true},
		{CapsOf(BPF), Perfmon, false},
		{CapsOf(SysAdmin), Perfmon, true},
		{CapsOf(SysAdmin), CheckpointRestore, true},
		{CapsOf(SysAdmin), SysPtrace, false},
		{CapsOf(SysAdmin), SysResource, false},
		{0, SysAdmin, false},
	} {
		if got := tc.held.Has(tc.ask); got != tc.want {
			t.Errorf("%#x has %s: %t, want %t", uint64(tc.held), tc.ask, got, tc.want)
		}
	}
}

func TestReadProcess(t *testing.T) {
	fsys := fstest.MapFS{
		"proc/7/status":  file("Name:\tsolver\nState:\tR (running)\nTgid:\t7\nUid:\t1000\t1001\t1000\t1000\nVmSize:\t 100 kB\nThreads:\t4\nSeccomp:\t2\n"),
		"proc/8/status":  file("Name:\tsolver\nState:\tR (running)\nTgid:\t7\nUid:\t1000\t1000\t1000\t1000\nVmSize:\t 100 kB\nThreads:\t4\nSeccomp:\t0\n"),
		"proc/2/status":  file("Name:\tkthreadd\nState:\tS (sleeping)\nTgid:\t2\nUid:\t0\t0\t0\t0\nThreads:\t1\nSeccomp:\t0\n"),
		"proc/3/status":  file("Name:\tkworker\nState:\tI (idle)\nTgid:\t3\nUid:\t0\t0\t0\t0\nKthread:\t1\nThreads:\t1\nSeccomp:\t0\n"),
		"proc/9/status":  file("Name:\tgone\nState:\tZ (zombie)\nTgid:\t9\nUid:\t0\t0\t0\t0\nThreads:\t1\nSeccomp:\t0\n"),
		"proc/10/status": file("Name:\ta b:c\nState:\tS (sleeping)\nTgid:\t10\nUid:\t0\t0\t0\t0\nKthread:\t0\nVmSize:\t1 kB\nThreads:\t1\n"),
	}
	for _, want := range []Process{
		{PID: 7, Leader: 7, Name: "solver", UID: 1001, Threads: 4, Seccomp: true},
		{PID: 8, Leader: 7, Name: "solver", UID: 1000, Threads: 4},
		{PID: 2, Leader: 2, Name: "kthreadd", Threads: 1, Kernel: true},
		{PID: 3, Leader: 3, Name: "kworker", Threads: 1, Kernel: true},
		{PID: 9, Leader: 9, Name: "gone", Threads: 1, Ended: true},
		{PID: 10, Leader: 10, Name: "a b:c", Threads: 1},
	} {
		got, err := ReadProcess(fsys, want.PID)
		if err != nil {
			t.Errorf("process %d: %v", want.PID, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("process %d: %s", want.PID, diff)
		}
	}
	if _, err := ReadProcess(fsys, 11); !errors.Is(err, ErrNoProcess) {
		t.Errorf("process 11: %v, want ErrNoProcess", err)
	}
}
