package bpf

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"
)

// FileKey identifies a file with its contents, as the kernel side does.
type FileKey = followFileKey

// ProgramStart says when a followed process began to run its program (CLOCK_MONOTONIC, ns), and how
// much processor time it had used by then (ns).
type ProgramStart struct{ Began, User, System uint64 }

// FileIs says what is known of a file.
type FileIs = followFileIs

// The values of FileIs; the comments are in shared.h.
const (
	FilePlain  = followFileIsFILE_PLAIN
	FileWanted = followFileIsFILE_WANTED
	FileLoader = followFileIsFILE_LOADER
)

// Learn tells the kernel side what a file is.
func (f *Follower) Learn(file FileKey, is FileIs) error {
	if err := f.coll.Maps[followMapFiles].Put(file, uint32(is)); err != nil {
		return fmt.Errorf("tell the kernel side what a file is: %w", err)
	}
	return nil
}

// findsFiles returns 1 if the kernel side can find the files that a process maps (Linux 5.17).
// Otherwise every program is stopped.
func findsFiles() uint32 {
	for _, fn := range []asm.BuiltinFunc{asm.FnFindVma, asm.FnLoop} {
		if features.HaveProgramHelper(ebpf.Kprobe, fn) != nil {
			return 0
		}
	}
	return 1
}

// Started returns when a followed process began to run its program. The second result is false if
// that was before the process was followed.
func (f *Follower) Started(pid int) (ProgramStart, bool) {
	var p followProgram
	err := f.coll.Maps[followMapPrograms].Lookup(uint32(pid), &p)
	return ProgramStart{p.Began, p.User, p.System}, err == nil && p.Began != 0
}

// Followed returns the flags of all followed processes.
func (f *Follower) Followed() map[uint32]uint32 { return entries[uint32, uint32](f.FollowedMap()) }

// MostStopped is the longest time for which a process may be stopped. mostSilent is the longest
// time for which the tool may give no sign of life (see Alive).
const MostStopped = 60 * time.Second

var mostSilent = 5 * time.Second

// Alive gives the kernel side a sign of life. Without one for mostSilent, the kernel side continues
// stopped processes, and stops none until the next sign.
func (f *Follower) Alive() {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	_ = f.coll.Variables[followVarHeard].Set(uint64(ts.Nano()))
	_ = f.coll.Variables[followVarSilent].Set(uint32(0))
}

// EndsStops reports whether the kernel side continues all stopped processes when the tool dies, and
// each process that was stopped too long. Then no guardian is needed. The kernel side needs
// bpf_send_signal_task for that (Linux 6.13). Its program must also run before an ending task gives
// up its memory, as it does since Linux 6.16: while a task without memory runs, the kernel sends no
// such signal.
func (f *Follower) EndsStops() bool {
	return hasFunction("bpf_send_signal_task") && hasFunction("bpf_task_from_pid") && tellsExitEarly()
}

// tellsExitEarly reports whether the tracepoint sched_process_exit comes before a task gives up its
// memory (exit_mm). Linux 6.16 moved the tracepoint there, and gave it one more argument.
func tellsExitEarly() bool {
	types, err := kernelTypes.Kernel()
	if err != nil {
		return false
	}
	var def *btf.Typedef
	if types.TypeByName("btf_trace_sched_process_exit", &def) != nil {
		return false
	}
	p, ok := def.Type.(*btf.Pointer)
	if !ok {
		return false
	}
	proto, ok := p.Target.(*btf.FuncProto)
	return ok && len(proto.Params) == 3 // with the tracepoint's own, which comes first
}

// hasFunction reports whether the kernel's BTF has a function of this name, which programs can
// call.
func hasFunction(name string) bool {
	types, err := kernelTypes.Kernel()
	if err != nil {
		return false
	}
	var fn *btf.Func
	return types.TypeByName(name, &fn) == nil
}
