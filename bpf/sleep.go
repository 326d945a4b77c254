package bpf

import (
	"slices"
	"strconv"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// canSleep reports whether the programs of a mode's probes may sleep. Perf events take such
// programs since Linux 6.0, but kernels that need that mode are mostly older.
func (m Mode) canSleep() bool { return m == Session || m == Multi }

// readEvents reports whether perf events are read. Programs that do so cannot sleep.
func (c *Counters) readEvents() bool { return slices.Contains(c.Sources, CountEvent) }

// letSleep lets programs sleep. They must read no perf events. It sets the variable of that name,
// so that the programs know (running.h). Such programs may not even mention maps of perf events:
// other maps take the place of these, in code that the verifier never reaches.
func letSleep(spec *ebpf.CollectionSpec, variable string, programs ...string) error {
	for _, name := range programs {
		spec.Programs[name].Flags |= unix.BPF_F_SLEEPABLE
	}
	for i := range MaxCounters {
		if m := spec.Maps[eventsMap+strconv.Itoa(i)]; m != nil {
			m.Type, m.MaxEntries = ebpf.Array, 1
		}
	}
	return spec.Variables[variable].Set(uint32(1))
}
