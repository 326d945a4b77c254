package bpf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// Life is one event in the life of a followed process; the fields' comments are in shared.h.
type Life = followLife

// Kinds of Life; the comments are in shared.h.
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
	last  link.Link // of the program that continues all stopped processes when the tool ends

	mu       sync.Mutex
	switches link.Link // of the program at each switch of tasks; nil: nobody was stopped yet
	lives    *kernelRing
	wait     *Waiter

	awaiting sync.Mutex
	awaited  []chan struct{} // see CatchUp; guarded by awaiting
}

// anyone stands for every user, ANYONE in follow.bpf.c.
const anyone = ^uint32(0)

// NewFollower loads the programs and attaches them, for a kernel that attaches probes in the given
// mode. It needs the kernel's BTF (Linux 5.5).
func NewFollower(mode Mode) (*Follower, error) {
	if mayContinueAnyone() {
		return newFollower(mode, anyone)
	}
	return newFollower(mode, uint32(unix.Getuid()))
}

// newFollower is NewFollower with the user whose processes the tool may continue, or anyone.
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
	if f.coll, err = newCollection(spec, nil); err != nil {
		return nil, fmt.Errorf("load the programs that follow processes: %w", err)
	}
	if err := f.attach(); err != nil {
		f.Close()
		return nil, err
	}
	if f.lives, err = mapKernelRing(f.coll.Maps[followMapLives]); err != nil {
		f.Close()
		return nil, err
	}
	if f.wait, err = newWaiter(f.coll.Maps[followMapLives]); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// attach attaches the programs. The first one continues all stopped processes if the tool dies.
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

// mayContinueAnyone reports whether the tool may send signals to processes of other users.
func mayContinueAnyone() bool {
	var now [2]unix.CapUserData
	err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &now[0])
	return err == nil && now[0].Effective>>unix.CAP_KILL&1 != 0
}

// WatchLibraries reports a LifeMap whenever the process pid has loaded or unloaded libraries; with
// pid 0, whenever any process has. The dynamic loader is the file at path. offset is the file
// offset of its function _dl_debug_state. state is the distance from that function to
// _r_debug.r_state in memory, 0 if not known. Closing the result ends the reports.
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

// Follow starts to watch a process; flags are the Follow constants.
func (f *Follower) Follow(pid int, flags uint32) error {
	if flags&FollowStop != 0 && f.EndsStops() {
		if err := f.watchSwitches(); err != nil {
			return err
		}
	}
	if err := f.coll.Maps[followMapFollowed].Put(uint32(pid), flags); err != nil {
		return fmt.Errorf("follow process %d: %w", pid, err)
	}
	return nil
}

// watchSwitches attaches the program that continues processes which were stopped too long and which
// the kernel side's timer could not continue. The program runs at each switch of tasks, so it is
// attached only if processes may be stopped.
func (f *Follower) watchSwitches() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.switches != nil {
		return nil
	}
	l, err := link.AttachTracing(link.TracingOptions{Program: f.coll.Programs[followProgOnLeave]})
	if err != nil {
		return fmt.Errorf("attach %s: %w", followProgOnLeave, err)
	}
	f.switches = l
	return nil
}

// Change sets and clears flags of a followed process. It does nothing if the process is no longer
// followed.
func (f *Follower) Change(pid int, set, clear uint32) {
	if flags := f.Flags(pid); flags != 0 && flags&^clear|set != flags {
		_ = f.coll.Maps[followMapFollowed].Update(uint32(pid), flags&^clear|set, ebpf.UpdateExist)
	}
}

// Flags returns the flags with which a process is followed, or 0 if the process is not followed.
func (f *Follower) Flags(pid int) (flags uint32) {
	_ = f.coll.Maps[followMapFollowed].Lookup(uint32(pid), &flags)
	return flags
}

// LetGo tells whether WentOn knows of any process that somebody other than Continue continued.
func (f *Follower) LetGo() bool {
	for _, at := range entries[followStop, uint64](f.StoppedMap()) {
		if at != 0 {
			return true
		}
	}
	return false
}

// Release stops following each process for whose flags the function which returns true. It
// continues the process if the process is stopped. WentOn still tells if somebody else continued it
// before.
func (f *Follower) Release(which func(flags uint32) bool) {
	for pid, flags := range entries[uint32, uint32](f.FollowedMap()) {
		if !which(flags) {
			continue
		}
		f.Forget(int(pid))
		for stop, at := range entries[followStop, uint64](f.StoppedMap()) {
			if stop.Pid == uint64(pid) && at == 0 {
				_ = f.Continue(int(pid), stop.Time)
			}
		}
	}
}

// entries copies a map that may change meanwhile.
func entries[K comparable, V any](m *ebpf.Map) map[K]V {
	out := map[K]V{}
	var k K
	var v V
	for it := m.Iterate(); it.Next(&k, &v); {
		out[k] = v
	}
	return out
}

// Forget stops watching a process.
func (f *Follower) Forget(pid int) { _ = f.coll.Maps[followMapFollowed].Delete(uint32(pid)) }

// Next waits for the next event. ok is false at the deadline and after Wake. One goroutine calls
// Next, and acts on each event before it calls Next again.
func (f *Follower) Next(deadline time.Time) (l Life, ok bool, err error) {
	f.awaiting.Lock()
	awaited := f.awaited
	f.awaiting.Unlock()
	if len(awaited) > 0 {
		deadline = time.Now()
	}
	defer func() {
		if !ok && len(awaited) > 0 {
			f.noneLeft(awaited)
		}
	}()
	read := func() error {
		n, _, err := f.lives.read(1, func(b []byte) error {
			if len(b) != int(unsafe.Sizeof(l)) {
				return fmt.Errorf("%w: %d bytes", ErrShortRecord, len(b))
			}
			l = *(*Life)(unsafe.Pointer(&b[0]))
			return nil
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

// CatchUp returns when all events that were reported before have been acted on, or when patience is
// over.
func (f *Follower) CatchUp(patience time.Duration) {
	done := make(chan struct{})
	f.awaiting.Lock()
	f.awaited = append(f.awaited, done)
	f.awaiting.Unlock()
	f.Wake()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// noneLeft ends the waits in CatchUp that were awaited when Next began. They are the first ones of
// f.awaited: others may have come since.
func (f *Follower) noneLeft(awaited []chan struct{}) {
	f.awaiting.Lock()
	defer f.awaiting.Unlock()
	for _, done := range awaited {
		close(done)
	}
	f.awaited = f.awaited[len(awaited):]
}

// Wake ends the wait of Next, if it waits.
func (f *Follower) Wake() { f.wait.Wake() }

// MostFollowed returns how many processes can be followed at a time.
func (f *Follower) MostFollowed() uint32 { return f.coll.Maps[followMapFollowed].MaxEntries() }

// Missed returns how many events were dropped because nobody read them in time, or because too many
// processes are followed. The processes concerned were not stopped for them.
func (f *Follower) Missed() (n uint32) {
	_ = f.coll.Variables[followVarMissed].Get(&n)
	return n
}

// WentOn returns when somebody other than Continue continued a process that the kernel side had
// stopped (CLOCK_MONOTONIC, ns), or 0 if nobody has. stopped is the Time of the Life that reported
// the stop.
func (f *Follower) WentOn(pid int, stopped uint64) (at uint64) {
	_ = f.StoppedMap().Lookup(followStop{Time: stopped, Pid: uint64(pid)}, &at)
	return at
}

// Continue continues a process that the kernel side had stopped. stopped is the Time of the Life
// that reported the stop. A process that has ended is no error.
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

// StoppedMap returns the map of processes that the kernel side has stopped. The guardian uses the
// map.
func (f *Follower) StoppedMap() *ebpf.Map { return f.coll.Maps[followMapStopped] }

// FollowedMap returns the map of followed processes. The guardian uses the map.
func (f *Follower) FollowedMap() *ebpf.Map { return f.coll.Maps[followMapFollowed] }

// ForgetAll stops following every process in a map of followed processes.
func ForgetAll(m *ebpf.Map) {
	for pid := range entries[uint32, uint32](m) {
		_ = m.Delete(pid)
	}
}

// ContinueAll continues every process in a map of stopped processes. A stop less than a second old
// is not marked as ended: a process is entered before it stops, so the signal may come too early.
func ContinueAll(m *ebpf.Map) { ContinueLonger(m, 0) }

// ContinueLonger continues the processes in the map that have been stopped for longer than the
// given time.
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
			// The tool that had the process stopped reads this time, and deletes the entry.
			_ = m.Update(stop, now, ebpf.UpdateExist)
		}
	}
}

// StopAll stops following all processes and continues those that are stopped.
func (f *Follower) StopAll() {
	ForgetAll(f.FollowedMap())
	ContinueAll(f.StoppedMap())
}

// Close stops following, and continues the processes that are stopped.
func (f *Follower) Close() {
	for _, l := range f.links {
		l.Close()
	}
	if f.switches != nil {
		f.switches.Close()
	}
	ContinueAll(f.StoppedMap())
	if f.last != nil {
		f.last.Close() // last: if the tool is killed before this, the program continues them
	}
	if f.lives != nil {
		_ = f.lives.close()
	}
	if f.wait != nil {
		f.wait.Close()
	}
	f.coll.Close()
}
