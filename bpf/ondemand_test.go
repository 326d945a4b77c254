package bpf

import (
	"errors"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

func TestKernelVersion(t *testing.T) {
	for release, want := range map[string][2]int{
		"5.15.0-91-generic": {5, 15}, "6.0.19": {6, 0}, "6.1.0-28-amd64": {6, 1}, "6.1-rc1": {6, 1}, "6.18.44": {6, 18}, "7.0+": {7, 0},
		"4.18.0-553.el8_10.x86_64": {4, 18}, "10.0": {10, 0}, "6": {}, "6.": {}, "6.x.1": {}, "": {}, "six": {},
	} {
		if major, minor := KernelVersion(release); [2]int{major, minor} != want {
			t.Errorf("%q: %d.%d, want %v", release, major, minor, want)
		}
	}
}

// The machine's own kernel is compared with its own version, and with versions just below and
// above.
func TestKernelFrom(t *testing.T) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	major, minor := KernelVersion(unix.ByteSliceToString(u.Release[:]))
	for _, c := range []struct {
		major, minor int
		want         bool
	}{
		{major, minor, true}, {major - 1, minor + 1, true}, {major, minor + 1, false}, {major + 1, 0, false},
	} {
		if got := kernelFrom(c.major, c.minor); got != c.want {
			t.Errorf("the kernel %s is of version %d.%d or newer: %t, want %t", unix.ByteSliceToString(u.Release[:]), c.major, c.minor, got, c.want)
		}
	}
}

// Sparse maps take memory on demand, in all collections that share them. No other hash map does.
func TestOnDemand(t *testing.T) {
	if !kernelFrom(6, 1) {
		t.Skip("this kernel takes the memory of maps beforehand")
	}
	p, err := LoadProbes(Session)
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := NewFollower(p.Mode())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sparse := 0
	for _, coll := range []*ebpf.Collection{p.coll, f.coll} {
		for name, m := range coll.Maps {
			onDemand := m.Type() == ebpf.Hash && m.Flags()&unix.BPF_F_NO_PREALLOC != 0
			if onDemand {
				sparse++
			}
			if m.Type() == ebpf.Hash && m.MaxEntries() > 16384 && !onDemand {
				t.Errorf("%s takes its memory beforehand", name)
			}
		}
	}
	if sparse != len(sparseMaps) {
		t.Errorf("%d maps take memory on demand, want %d", sparse, len(sparseMaps))
	}
}
