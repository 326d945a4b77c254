package bpf

import (
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
)

// HitCounter counts the hits of probes and does nothing else. Tests make the table in
// docs/probes.md with it (e2e/probetable_test.go). It works on amd64 only.
type HitCounter struct {
	hits *ebpf.Map
	prog *ebpf.Program
}

// Situation is the state at a hit on which a probe's action may depend.
type Situation struct {
	Zero, Sign bool // the processor's flags
	Inside     bool // the word on top of the stack is an address of the library: it called itself
}

// The bits that make a situation a number below 8.
const (
	zeroBit, signBit, insideBit = 1, 2, 4
	situations                  = 8
)

// Offsets in struct pt_regs (arch/x86/include/asm/ptrace.h).
const regFlags, regSP = 18 * 8, 19 * 8

// LoadHitCounter loads a counter of points with Row numbers below rows. The addresses lo and hi
// bound the library's code in the process.
func LoadHitCounter(rows int, lo, hi uint64) (*HitCounter, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raise the locked-memory limit: %w", err)
	}
	hits, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: uint32(rows * situations)})
	if err != nil {
		return nil, fmt.Errorf("make the map of hits: %w", err)
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceUprobeMulti, License: "GPL",
		Instructions: asm.Instructions{
			asm.Mov.Reg(asm.R6, asm.R1),
			asm.FnGetAttachCookie.Call(),
			asm.Mov.Reg(asm.R7, asm.R0),
			asm.LSh.Imm(asm.R7, 3),
			// The zero flag is bit 6, the sign flag bit 7.
			asm.LoadMem(asm.R1, asm.R6, regFlags, asm.DWord),
			asm.RSh.Imm(asm.R1, 6),
			asm.And.Imm(asm.R1, zeroBit|signBit),
			asm.Or.Reg(asm.R7, asm.R1),
			asm.Mov.Imm(asm.R2, 0),
			asm.StoreMem(asm.R10, -16, asm.R2, asm.DWord),
			asm.LoadMem(asm.R3, asm.R6, regSP, asm.DWord),
			asm.Mov.Reg(asm.R1, asm.R10),
			asm.Add.Imm(asm.R1, -16),
			asm.Mov.Imm(asm.R2, 8),
			asm.FnProbeReadUser.Call(),
			asm.LoadMem(asm.R1, asm.R10, -16, asm.DWord),
			asm.LoadImm(asm.R2, int64(lo), asm.DWord),
			asm.Sub.Reg(asm.R1, asm.R2),
			asm.LoadImm(asm.R2, int64(hi-lo), asm.DWord),
			asm.JGE.Reg(asm.R1, asm.R2, "outside"),
			asm.Or.Imm(asm.R7, insideBit),
			asm.StoreMem(asm.R10, -4, asm.R7, asm.Word).WithSymbol("outside"),
			asm.Mov.Reg(asm.R2, asm.R10),
			asm.Add.Imm(asm.R2, -4),
			asm.LoadMapPtr(asm.R1, hits.FD()),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "done"),
			asm.Mov.Imm(asm.R1, 1),
			asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("done"),
			asm.Return(),
		}})
	if err != nil {
		hits.Close()
		return nil, fmt.Errorf("load the hit counter: %w", err)
	}
	return &HitCounter{hits, prog}, nil
}

// Attach places the counter at file offsets of the ELF file at path, for one process. Closing the
// result removes its probes.
func (c *HitCounter) Attach(path string, pid int, points []Point) (io.Closer, error) {
	ex, err := link.OpenExecutable(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	opts := &link.UprobeMultiOptions{PID: uint32(pid)}
	for _, p := range points {
		opts.Addresses = append(opts.Addresses, p.Offset)
		opts.Cookies = append(opts.Cookies, uint64(p.Row))
	}
	l, err := ex.UprobeMulti(nil, c.prog, opts)
	if err != nil {
		return nil, fmt.Errorf("attach the hit counter to %s: %w", path, err)
	}
	return l, nil
}

// Hits returns how often the point with this row was hit so far, by situation.
func (c *HitCounter) Hits(row uint32) (map[Situation]uint64, error) {
	out := map[Situation]uint64{}
	for n := range uint32(situations) {
		var v uint64
		if err := c.hits.Lookup(row*situations+n, &v); err != nil {
			return nil, fmt.Errorf("read the hits of point %d: %w", row, err)
		}
		if v > 0 {
			out[Situation{Zero: n&zeroBit != 0, Sign: n&signBit != 0, Inside: n&insideBit != 0}] = v
		}
	}
	return out, nil
}

// Close frees the program and its counters.
func (c *HitCounter) Close() {
	c.prog.Close()
	c.hits.Close()
}
