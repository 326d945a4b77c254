package preflight

import (
	"strconv"
	"strings"
)

// Capability is a Linux capability, by its number in linux/capability.h.
type Capability uint8

// The capabilities on which it depends what can be measured, and the Linux version that added them.
const (
	SysPtrace         Capability = 19 // look into other users' processes
	SysAdmin          Capability = 21 // includes BPF and Perfmon
	SysResource       Capability = 24 // locked memory before 5.11
	Perfmon           Capability = 38 // place probes, load tracing programs (5.8)
	BPF               Capability = 39 // load programs (5.8)
	CheckpointRestore Capability = 40 // open mapped files that were replaced (5.9)
)

var capabilityNames = map[Capability]string{
	SysPtrace: "CAP_SYS_PTRACE", SysAdmin: "CAP_SYS_ADMIN", SysResource: "CAP_SYS_RESOURCE",
	Perfmon: "CAP_PERFMON", BPF: "CAP_BPF", CheckpointRestore: "CAP_CHECKPOINT_RESTORE",
}

// String returns the capability's name as capabilities(7) has it.
func (c Capability) String() string {
	if n, ok := capabilityNames[c]; ok {
		return n
	}
	return "capability " + strconv.Itoa(int(c))
}

// Caps is a set of capabilities, as /proc/PID/status shows it.
type Caps uint64

// CapsOf returns the set of the given capabilities.
func CapsOf(cs ...Capability) (s Caps) {
	for _, c := range cs {
		s |= 1 << c
	}
	return s
}

// Has tells whether a capability is held, by itself or as part of CAP_SYS_ADMIN, from which Linux
// split off BPF, Perfmon and CheckpointRestore.
func (s Caps) Has(c Capability) bool {
	switch c {
	case BPF, Perfmon, CheckpointRestore:
		if s&(1<<SysAdmin) != 0 {
			return true
		}
	}
	return s&(1<<c) != 0
}

// Missing returns the capabilities among cs that are not held.
func (s Caps) Missing(cs ...Capability) (missing []Capability) {
	for _, c := range cs {
		if !s.Has(c) {
			missing = append(missing, c)
		}
	}
	return missing
}

// list writes capabilities as in a sentence: "A, B and C".
func list(cs []Capability) string {
	var names []string
	for _, c := range cs {
		names = append(names, c.String())
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
