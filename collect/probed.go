package collect

import (
	"encoding/binary"

	"ompp-attach/bpf"
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// probedCode is where threads stand, by virtual address in a file, while the
// kernel handles one of the measurement's probes there.
type probedCode map[*symbols.Object]map[uint64]standing

type standing uint8

const (
	elsewhere standing = iota
	atProbe
	atReturn // at a probed return instruction of x86, which leads to where the stack says
)

func (c probedCode) add(o *symbols.Object, vaddr uint64) {
	if c[o] == nil {
		c[o] = map[uint64]standing{}
	}
	for at, s := range standings(o, vaddr) {
		c[o][at] = max(c[o][at], s)
	}
}

// standings are where a thread stands, as the kernel has it, from when it hits a
// probe until it goes on. Behind a system call it stands for that one's sake.
func standings(code insn.Code, vaddr uint64) map[uint64]standing {
	const int3 = 1
	all, here := map[uint64]standing{}, atProbe
	note := func(at uint64, s standing) {
		if !behindSyscall(code, at) {
			all[at] = s
		}
	}
	i, err := insn.Decode(code, vaddr)
	if err == nil && i.Kind == insn.Ret && code.Arch() == "amd64" {
		here = atReturn
	}
	note(vaddr, here)
	if code.Arch() == "amd64" {
		note(vaddr+int3, here) // until the kernel sets it back
	}
	if err != nil {
		return all
	}
	// Where the instruction leads: once the kernel has emulated it, or has taken the
	// trap behind its copy, it still has to come out.
	if !i.Ends() && i.Kind != insn.Call && i.Kind != insn.CallIndirect {
		note(i.Next(), atProbe)
	}
	if i.Target != 0 && (i.Kind == insn.Call || i.Kind == insn.Jump || i.Kind == insn.Jcc) {
		note(i.Target, atProbe)
	}
	return all
}

func behindSyscall(code insn.Code, vaddr uint64) bool {
	call := "\x0f\x05" // syscall
	if code.Arch() == "arm64" {
		call = "\x01\x00\x00\xd4" // svc #0
	}
	n := uint64(len(call))
	return vaddr >= n && string(code.Read(vaddr-n, len(call))) == call
}

// returned are where probed returns lead. A thread stands there already while the
// kernel handles the probe: of a function whose return is probed from when it has
// come to the trampoline, of a return instruction when its copy was executed.
type returned map[uint64]bool

func (seen returned) learn(r *bpf.SampleRecord, at standing) {
	for _, to := range r.Returns {
		if to == 0 {
			break
		}
		seen[to] = true
	}
	if at == atReturn && len(r.Bytes) >= 8 && r.Flags&bpf.SampleKernel != 0 {
		seen[binary.LittleEndian.Uint64(r.Bytes)] = true
	}
}

// trampolinePage is the page in which the kernel keeps the trampoline of return
// probes. Copies of instructions lie there, too, but bpf/sample.bpf.c gives the
// place of the instruction itself.
const trampolinePage = 4096

// probing tells whether a sample was taken while a thread was at a probe: in the
// kernel, to which a probed instruction or return led it, or in the trampoline,
// which is no code of the program's. The few page faults of an instruction behind
// a call that is probed cannot be told from that. In user code a thread is the
// program's, also where it has just come out of a probe or will be in one next.
func (c probedCode) probing(mods []symbols.Module, seen returned, r *bpf.SampleRecord) bool {
	at := elsewhere
	if m, ok := symbols.Find(mods, r.Ip); ok {
		at = c[m.Object()][m.VAddr(r.Ip)]
	}
	seen.learn(r, at)
	if r.Trampoline != 0 && r.Ip-r.Trampoline < trampolinePage {
		return true
	}
	return r.Flags&bpf.SampleKernel != 0 && (at != elsewhere || seen[r.Ip])
}

// samplesAt tells what takes samples of the probes that are about to be placed
// in a file.
func (m *Measurement) samplesAt(o *symbols.Object, probed []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sampling.kernel == nil {
		return
	}
	for _, vaddr := range probed {
		m.sampling.probed.add(o, vaddr)
	}
}
