package bpf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// Life is one step in the life of a followed process.
type Life = followLife

// Kinds of Life.
const (
	LifeExec = uint32(followLifeKindLIFE_EXEC)
	LifeFork = uint32(followLifeKindLIFE_FORK)
	LifeMap  = uint32(followLifeKindLIFE_MAP)
	LifeFile = uint32(followLifeKindLIFE_FILE)
)

// How a process is followed; the comments are in shared.h.
const (
	FollowStop     = uint32(followFollowFlagFOLLOW_STOP)
	FollowChildren = uint32(followFollowFlagFOLLOW_CHILDREN)
	FollowProbed   = uint32(followFollowFlagFOLLOW_PROBED)
	FollowKnown    = uint32(followFollowFlagFOLLOW_KNOWN)
	FollowFirst    = uint32(followFollowFlagFOLLOW_FIRST)
)

// Follower watches processes for new programs, children and mapped runtimes.
type Follower struct {
	mode  Mode
	coll  *ebpf.Collection
	links []link.Link
	last  link.Link // of the program that lets everybody go on when we end
	lives *memoryRing
	wait  *Waiter
}

// anyone stands for every user, ANYONE in follow.bpf.c.
const anyone = ^uint32(0)

// NewFollower loads and attaches the programs (needs BTF: 5.5), for a kernel
// that attaches probes in the given mode.
func NewFollower(mode Mode) (*Follower, error) {
	if mayContinueAnyone() {
		return newFollower(mode, anyone)
	}
	return newFollower(mode, uint32(unix.Getuid()))
}

// newFollower is told the user whose processes we may continue.
func newFollower(mode Mode, user uint32) (*Follower, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raise the locked-memory limit: %w", err)
	}
	spec, err := loadFollow()
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]any{
		followVarMayContinue: user, followVarTool: uint32(os.Getpid()), followVarFindsFiles: findsFiles(),
		followVarMostStopped: uint64(MostStopped), followVarMostSilent: uint64(mostSilent),
	} {
		if err := spec.Variables[name].Set(value); err != nil {
			return nil, fmt.Errorf("set %s of the programs that follow processes: %w", name, err)
		}
	}
	f := &Follower{mode: mode}
	unused := followProgOnLibrariesMulti
	if mode != Perf {
		unused = followProgOnLibrariesPerf
	}
	delete(spec.Programs, unused)
	if f.coll, err = newCollection(spec, nil, nil); err != nil {
		return nil, fmt.Errorf("load the programs that follow processes: %w", err)
	}
	if err := f.attach(); err != nil {
		f.Close()
		return nil, err
	}
	if f.lives, err = mapRing(f.coll.Maps[followMapLives]); err != nil {
		f.Close()
		return nil, err
	}
	if f.wait, err = newWaiter(f.coll.Maps[followMapLives]); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// attach attaches the programs; that which lets everybody go on comes first.
func (f *Follower) attach() error {
	tracing := func(name string) (link.Link, error) {
		l, err := link.AttachTracing(link.TracingOptions{Program: f.coll.Programs[name]})
		if err != nil {
			return nil, fmt.Errorf("attach %s: %w", name, err)
		}
		return l, nil
	}
	var err error
	if f.last, err = tracing(followProgOnExit); err != nil {
		return err
	}
	for _, name := range []string{followProgOnExec, followProgOnFork} {
		l, err := tracing(name)
		if err != nil {
			return err
		}
		f.links = append(f.links, l)
	}
	return nil
}

// mayContinueAnyone tells whether we may send signals to processes of other users.
func mayContinueAnyone() bool {
	var now [2]unix.CapUserData
	err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &now[0])
	return err == nil && now[0].Effective>>unix.CAP_KILL&1 != 0
}

// WatchLibraries reports (LifeMap) whenever a process has loaded or unloaded
// libraries, or any if pid is 0: path is its dynamic loader, offset that of _dl_debug_state in it,
// state that of _r_debug.r_state relative to it in memory, 0 if not known.
func (f *Follower) WatchLibraries(path string, pid int, offset uint64, state int64) (io.Closer, error) {
	ex, err := link.OpenExecutable(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	var l link.Link
	if f.mode == Perf {
		l, err = ex.Uprobe("", f.coll.Programs[followProgOnLibrariesPerf],
			&link.UprobeOptions{Address: offset, PID: pid, Cookie: uint64(state)})
	} else {
		l, err = ex.UprobeMulti(nil, f.coll.Programs[followProgOnLibrariesMulti],
			&link.UprobeMultiOptions{Addresses: []uint64{offset}, Cookies: []uint64{uint64(state)}, PID: uint32(pid)})
	}
	if err != nil {
		return nil, fmt.Errorf("watch the loader %s: %w", path, err)
	}
	return l, nil
}

// Follow starts watching a process.
func (f *Follower) Follow(pid int, flags uint32) error {
	if err := f.coll.Maps[followMapFollowed].Put(uint32(pid), flags); err != nil {
		return fmt.Errorf("follow process %d: %w", pid, err)
	}
	return nil
}

// Change sets and clears flags of a process that is followed; one that has ended
// meanwhile is none.
func (f *Follower) Change(pid int, set, clear uint32) {
	if flags := f.Flags(pid); flags != 0 && flags&^clear|set != flags {
		_ = f.coll.Maps[followMapFollowed].Update(uint32(pid), flags&^clear|set, ebpf.UpdateExist)
	}
}

// Flags returns how a process is followed, 0 if it is not.
func (f *Follower) Flags(pid int) (flags uint32) {
	_ = f.coll.Maps[followMapFollowed].Lookup(uint32(pid), &flags)
	return flags
}

// Release stops following the processes that are followed in a certain way, and
// continues those of them that wait.
func (f *Follower) Release(which func(flags uint32) bool) {
	for pid, flags := range entries[uint32, uint32](f.FollowedMap()) {
		if !which(flags) {
			continue
		}
		f.Forget(int(pid))
		for stop := range entries[followStop, uint64](f.StoppedMap()) {
			if stop.Pid == uint64(pid) {
				_ = f.Continue(int(pid), stop.Time)
			}
		}
	}
}

// entries reads a map while it may change.
func entries[K comparable, V any](m *ebpf.Map) map[K]V {
	out := map[K]V{}
	var k K
	var v V
	for it := m.Iterate(); it.Next(&k, &v); {
		out[k] = v
	}
	return out
}

// Forget stops watching it.
func (f *Follower) Forget(pid int) { _ = f.coll.Maps[followMapFollowed].Delete(uint32(pid)) }

// Next waits for the next event; ok is false at the deadline, and after Wake.
func (f *Follower) Next(deadline time.Time) (l Life, ok bool, err error) {
	read := func() error {
		n, _, err := f.lives.read(1, func(b []byte) (int, error) {
			if len(b) != int(unsafe.Sizeof(l)) {
				return 0, fmt.Errorf("%w: %d bytes", ErrShortRecord, len(b))
			}
			l = *(*Life)(unsafe.Pointer(&b[0]))
			return 1, nil
		})
		ok = n > 0
		return err
	}
	if err = read(); err == nil && !ok {
		if _, err = f.wait.Wait(deadline); err == nil {
			err = read()
		}
	}
	return l, ok, err
}

// Wake ends the wait of Next, if any.
func (f *Follower) Wake() { f.wait.Wake() }

// Missed returns how many events were not told, because nobody read them in time:
// the processes ran on.
func (f *Follower) Missed() (n uint32) {
	_ = f.coll.Variables[followVarMissed].Get(&n)
	return n
}

// WentOn returns when somebody else than Continue let a process go on that was
// stopped for us at a time, that of the Life that told of it; 0: nobody has.
func (f *Follower) WentOn(pid int, stopped uint64) (at uint64) {
	_ = f.StoppedMap().Lookup(followStop{Time: stopped, Pid: uint64(pid)}, &at)
	return at
}

// Continue lets a process go on that was stopped for us at a time.
func (f *Follower) Continue(pid int, stopped uint64) (err error) {
	if f.WentOn(pid, stopped) == 0 {
		err = unix.Kill(pid, unix.SIGCONT)
	}
	_ = f.StoppedMap().Delete(followStop{Time: stopped, Pid: uint64(pid)})
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("continue process %d: %w", pid, err)
	}
	return nil
}

// StoppedMap is the map of processes that wait for us, for the guardian.
func (f *Follower) StoppedMap() *ebpf.Map { return f.coll.Maps[followMapStopped] }

// FollowedMap is the map of followed processes, for the guardian.
func (f *Follower) FollowedMap() *ebpf.Map { return f.coll.Maps[followMapFollowed] }

// ForgetAll ends the following of every process in a map of followed ones.
func ForgetAll(m *ebpf.Map) {
	for pid := range entries[uint32, uint32](m) {
		_ = m.Delete(pid)
	}
}

// ContinueAll continues every process in a map of stopped ones. They stay in
// it for a second: one may be entered and not be stopped yet.
func ContinueAll(m *ebpf.Map) { ContinueLonger(m, 0) }

// ContinueLonger continues those that have been stopped for longer than a time.
func ContinueLonger(m *ebpf.Map, than time.Duration) {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	now := uint64(ts.Nano())
	for stop, before := range entries[followStop, uint64](m) {
		if before != 0 || now < stop.Time+uint64(than) {
			continue
		}
		_ = unix.Kill(int(stop.Pid), unix.SIGCONT)
		if now > stop.Time+uint64(time.Second) {
			// Whoever stopped it learns of this, and takes it out.
			_ = m.Update(stop, now, ebpf.UpdateExist)
		}
	}
}

// StopAll stops following everybody and continues whoever waits.
func (f *Follower) StopAll() {
	ForgetAll(f.FollowedMap())
	ContinueAll(f.StoppedMap())
}

// Close stops following and continues whoever waits.
func (f *Follower) Close() {
	for _, l := range f.links {
		l.Close()
	}
	ContinueAll(f.StoppedMap())
	if f.last != nil {
		f.last.Close() // if we were killed before, it has continued them
	}
	if f.lives != nil {
		_ = f.lives.close()
	}
	if f.wait != nil {
		f.wait.Close()
	}
	f.coll.Close()
}
