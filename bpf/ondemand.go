package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// sparseMaps are maps with room for 65536 processes that mostly hold a few. By default the kernel
// allocates, clears and lists the memory of all entries when it creates a map. That takes 15 to 23
// ms of processor time per map. For these maps the kernel allocates an entry when the entry is
// stored. If no memory is left then, little is lost. For an entry of sharing, Share returns an
// error. A process without an entry in programs is only looked at more often. The maps of followed
// and of stopped processes could not bear a missing entry, so all their memory is allocated
// beforehand. They have room for fewer processes (MAX_FOLLOWED).
var sparseMaps = []string{probeMapSharing, followMapPrograms}

// takeOnDemand makes sparse maps take memory for an entry when the entry is stored. Before Linux
// 6.1 (commits fba1a1c6c912, 34dd3bad1a6f) the kernel allocated that memory in a way that is not
// allowed in a probe.
func takeOnDemand(spec *ebpf.CollectionSpec) {
	if !kernelFrom(6, 1) {
		return
	}
	for _, name := range sparseMaps {
		if m := spec.Maps[name]; m != nil {
			m.Flags |= unix.BPF_F_NO_PREALLOC
		}
	}
}

// kernelFrom reports whether the kernel has the given version, or a newer one.
func kernelFrom(major, minor int) bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	x, y := KernelVersion(unix.ByteSliceToString(u.Release[:]))
	return x > major || x == major && y >= minor
}

// KernelVersion returns the version of a kernel of the given release, as `uname -r` prints it. Both
// numbers are 0 if the release does not begin with a version.
func KernelVersion(release string) (major, minor int) {
	if n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor); n < 2 {
		return 0, 0
	}
	return major, minor
}
