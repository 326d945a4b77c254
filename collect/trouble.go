package collect

import (
	"fmt"
	"os"

	"ompp-attach/preflight"
)

// Reasons for which a measurement is impossible, each told in one sentence.

// hostPIDs refuses to run where PIDs are not those of the initial PID namespace, which the records
// carry. The inode of that namespace is fixed (PROC_PID_INIT_INO, include/linux/proc_ns.h).
func hostPIDs() error {
	const initial = "pid:[4026531836]"
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil && ns != initial {
		return &AttachError{"this shell runs in a PID namespace of its own (a container), where process numbers differ from the kernel's: run ompp-attach on the host, or in a container with the host's PID namespace (docker run --pid=host --privileged)"}
	}
	return nil
}

// seccompTrouble refuses processes that the kernel would kill at a return probe.
func (m *Measurement) seccompTrouble(pid int) error {
	p, err := preflight.ReadProcess(preflight.Root(), pid)
	if err != nil || !p.Seccomp || !m.machine.SeccompKills(m.kernel.Mode()) {
		return nil
	}
	return &AttachError{fmt.Sprintf("process %d runs under a seccomp filter, and kernel %s may kill it at a return probe: use a kernel from 6.14 on, or run the program without the filter (containers: --security-opt seccomp=unconfined)", pid, m.machine.Release)}
}

// ended tells whether a process is gone, or is a zombie.
func ended(pid int) bool {
	p, err := preflight.ReadProcess(preflight.Root(), pid)
	return err != nil || p.Ended
}
