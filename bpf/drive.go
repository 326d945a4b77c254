package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
)

// Step is one of the hits that Drive makes in turn.
type Step struct {
	Row    uint32
	Return bool // a hit at the return; else at the entry
}

// Hits describes hits that are made without a probe. Tests and benchmarks make the kernel side do,
// on their own threads, what it does at a hit.
type Hits struct {
	Steps []Step // 1, 2, 4 or 8 steps
	Count int
	// The registers at every hit: stack pointer, instruction pointer and first argument; and
	// whether the last comparison found its operands equal.
	SP, IP, Arg uint64
	Equal       bool
	Slot        uint32 // below 256; threads that drive at the same time need different slots
}

// LoadDriven loads the kernel side for Drive and attaches nothing. It needs number iterators (Linux
// 6.4).
func LoadDriven() (*Probes, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raise the locked-memory limit: %w", err)
	}
	p, err := loadProbes(driven, Counters{}, true)
	if err != nil {
		return nil, fmt.Errorf("load the driven probe program: %w", err)
	}
	return p, nil
}

// Drive makes the hits on the calling thread.
func (p *Probes) Drive(h *Hits) error {
	d := probeDrive{Sp: h.SP, Ip: h.IP, Arg0: h.Arg, Steps: uint32(len(h.Steps)), Hits: uint32(h.Count)}
	n := len(h.Steps)
	if n == 0 || n > len(d.Row) || n&(n-1) != 0 {
		return fmt.Errorf("drive: %d steps cannot take turns", n)
	}
	if h.Equal {
		d.Zero = 1
	}
	for i, s := range h.Steps {
		d.Row[i] = s.Row
		if s.Return {
			d.Returns |= 1 << i
		}
	}
	if err := p.coll.Maps[probeMapDrives].Put(h.Slot, d); err != nil {
		return fmt.Errorf("drive: %w", err)
	}
	// The program's one argument.
	if _, err := p.coll.Programs[probeProgOnDrive].Run(&ebpf.RunOptions{Context: h.Slot}); err != nil {
		return fmt.Errorf("drive: %w", err)
	}
	return nil
}
