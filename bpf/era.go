package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
)

// NewEra makes the kernel side forget how deep threads are nested. It is called after a pause, in
// which the kernel side has not followed the threads.
func (p *Probes) NewEra() error {
	v := p.coll.Variables[probeVarEra]
	var era uint32
	if err := v.Get(&era); err != nil {
		return fmt.Errorf("read the era: %w", err)
	}
	if err := v.Set(era + 1); err != nil {
		return fmt.Errorf("begin a new era: %w", err)
	}
	return nil
}

// Unheeded returns how often a process could not switch its reports off, because too many processes
// have done so. The measurement of such a process continues.
func (p *Probes) Unheeded() (n uint32) {
	_ = p.coll.Variables[probeVarUnheeded].Get(&n)
	return n
}

// Hear switches the reports of a process on again after the process has switched them off. It is
// called if the process runs another program now, or if its number belongs to a new process.
func (p *Probes) Hear(pid int) error {
	if _, err := p.coll.Programs[probeProgHear].Run(&ebpf.RunOptions{Context: uint64(pid)}); err != nil {
		return fmt.Errorf("hear process %d again: %w", pid, err)
	}
	return nil
}
