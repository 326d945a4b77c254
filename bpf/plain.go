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

// FileKey names the contents of a file as the kernel side does.
type FileKey = followFileKey

// ProgramStart is when a followed process began to run its program (ktime), and
// what processor time it had used by then.
type ProgramStart struct{ Began, User, System uint64 }

// FileIs is what is known of a file.
type FileIs = followFileIs

// What files are; the comments are in shared.h.
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

// findsFiles is 1 where the kernel side can tell which files a process maps (Linux
// 5.17). If not, every program is stopped.
func findsFiles() uint32 {
	for _, fn := range []asm.BuiltinFunc{asm.FnFindVma, asm.FnLoop} {
		if features.HaveProgramHelper(ebpf.Kprobe, fn) != nil {
			return 0
		}
	}
	return 1
}

// Started returns when a followed process began to run its program; false if that
// was before it was followed.
func (f *Follower) Started(pid int) (ProgramStart, bool) {
	var p followProgram
	err := f.coll.Maps[followMapPrograms].Lookup(uint32(pid), &p)
	return ProgramStart{p.Began, p.User, p.System}, err == nil && p.Began != 0
}

// Followed returns the processes that are followed, and their flags.
func (f *Follower) Followed() map[uint32]uint32 { return entries[uint32, uint32](f.FollowedMap()) }

// MostStopped is the longest that a process may be stopped, mostSilent that if we
// give no sign of life (see Alive).
const MostStopped = 60 * time.Second

var mostSilent = 5 * time.Second

// Alive gives the kernel side a sign of life. Where it has none for some seconds,
// it lets stopped processes go on, and stops nobody until the next sign.
func (f *Follower) Alive() {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	_ = f.coll.Variables[followVarHeard].Set(uint64(ts.Nano()))
	_ = f.coll.Variables[followVarSilent].Set(uint32(0))
}

// EndsStops tells whether the kernel side lets everybody go on when we die, and
// whoever has been stopped too long (Linux 6.13): no guardian is needed.
func (f *Follower) EndsStops() bool {
	return hasFunction("bpf_send_signal_task") && hasFunction("bpf_task_from_pid")
}

// hasFunction tells whether programs may attach to a function of the kernel, or
// call it.
func hasFunction(name string) bool {
	types, err := kernelTypes.Kernel()
	if err != nil {
		return false
	}
	var fn *btf.Func
	return types.TypeByName(name, &fn) == nil
}
