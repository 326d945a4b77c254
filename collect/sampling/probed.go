package sampling

import (
	"encoding/binary"

	"ompp-attach/bpf"
	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// probedPlaces tells for each file at which virtual addresses a thread stands while the kernel
// handles one of the measurement's probes.
type probedPlaces map[*symbols.Object]map[uint64]standing

type standing uint8

const (
	elsewhere standing = iota
	atProbe
	atReturn // at a probed return instruction of x86: the stack tells where it leads
)

func (c probedPlaces) add(o *symbols.Object, vaddr uint64) {
	if c[o] == nil {
		c[o] = map[uint64]standing{}
	}
	for at, s := range standings(o, vaddr) {
		c[o][at] = max(c[o][at], s)
	}
}

// standings are the addresses at which the kernel sees a thread from the hit of a probe until it
// goes on. An address behind a system call is left out: a thread stands there because of that call.
func standings(code disasm.Code, vaddr uint64) map[uint64]standing {
	const int3 = 1
	all, here := map[uint64]standing{}, atProbe
	note := func(at uint64, s standing) {
		if !behindSyscall(code, at) {
			all[at] = s
		}
	}
	i, err := disasm.Decode(code, vaddr)
	if err == nil && i.Control == disasm.Ret && code.Arch() == "amd64" {
		here = atReturn
	}
	note(vaddr, here)
	if code.Arch() == "amd64" {
		note(vaddr+int3, here) // until the kernel corrects it
	}
	if err != nil {
		return all
	}
	// Where the instruction leads: the kernel has emulated it, or has taken the trap behind its
	// copy, and has not returned to user code yet.
	if !i.Ends() && i.Control != disasm.Call && i.Control != disasm.CallIndirect {
		note(i.Next(), atProbe)
	}
	if i.Target != 0 && (i.Control == disasm.Call || i.Control == disasm.Jump || i.Control == disasm.Jcc) {
		note(i.Target, atProbe)
	}
	return all
}

func behindSyscall(code disasm.Code, vaddr uint64) bool {
	call := "\x0f\x05" // syscall
	if code.Arch() == "arm64" {
		call = "\x01\x00\x00\xd4" // svc #0
	}
	n := uint64(len(call))
	return vaddr >= n && string(code.Read(vaddr-n, len(call))) == call
}

// returnedTo are the addresses to which probed returns lead. A thread appears to be at such an
// address while the kernel still handles the probe. If a return probe is at work, it does so from
// the time when it has come to the trampoline. If a return instruction is probed, it does so from
// the time when the kernel's copy of that instruction was executed.
type returnedTo map[uint64]bool

func (seen returnedTo) learn(r *bpf.SampleRecord, at standing) {
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

// trampolinePage is the size of the page in which the kernel keeps the trampoline of return probes.
// Copies of instructions lie there, too, but for these bpf/sample.bpf.c reports the address of the
// instruction itself.
const trampolinePage = 4096

// probing tells whether a sample was taken while a thread was at a probe. The thread was at a probe
// if it was in the kernel because of a probed instruction or return. It was also at a probe if it
// was in the trampoline, which is no code of the program. A page fault of an instruction behind a
// probed call looks the same, but such faults are few. In user code a thread runs for the program,
// also when it has just left a probe or will hit one next.
func (c probedPlaces) probing(mods []symbols.Module, seen returnedTo, r *bpf.SampleRecord) bool {
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
