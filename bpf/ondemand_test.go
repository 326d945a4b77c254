package bpf

import (
	"errors"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

func TestFrom(t *testing.T) {
	for release, want := range map[string]bool{
		"5.15.0-91-generic": false, "6.0.19": false, "6.1.0-28-amd64": true, "6.18.44": true, "7.0-rc1": true, "10.0": true, "": false, "six": false,
	} {
		if got := from(release, 6, 1); got != want {
			t.Errorf("%q: %t", release, got)
		}
	}
}

// Sparse maps take memory on demand, in all collections that share them, and no other hash does.
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
			if large := m.Type() == ebpf.Hash && m.MaxEntries() >= 65536; large && !onDemand &&
				name != followMapFollowed && name != followMapStopped {
				t.Errorf("%s takes its memory beforehand", name)
			}
		}
	}
	if sparse != len(sparseMaps) {
		t.Errorf("%d maps take memory on demand, want %d", sparse, len(sparseMaps))
	}
}
