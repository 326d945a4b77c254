package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/clock"
	"ompp-attach/files"
)

// While a measurement is under way, its results directory holds a locked file, the mark. The kernel
// releases the lock when the tool ends, however it ends. So `report` can tell which results are
// still being written, and which were cut short. Other measurements are refused the directory.

// markPrefix begins the name of a mark; host and PID follow.
const markPrefix = ".ompp-attach-running-"

// underWay is the contents of a mark.
type underWay struct {
	Host string `json:"host"`
	// Boot id of the kernel: PIDs have a meaning within one boot only.
	Boot     string `json:"boot"`
	PID      int    `json:"pid"`           // of the tool
	Job      string `json:"job,omitempty"` // of the ranks; empty: none
	Programs []life `json:"programs"`
}

// life is a process that is measured, and its parent. A launcher that ends a job also kills the
// parents of the job's programs. So a program that still runs with another parent is about to end.
type life struct {
	PID    int `json:"pid"`
	Parent int `json:"parent"`
}

// mark is the mark of one measurement in one directory. It is nil if it could not be made. Then, or
// if the file system has no locks, the measurement goes on, but others are not refused the
// directory.
type mark struct {
	mu   sync.Mutex
	root *os.Root
	file *os.File
	says underWay
}

// newMark makes the mark in a directory that is ours to write to, or returns nil. job names the job
// of which ranks are measured; empty: of none.
func newMark(dir, job string) *mark {
	host, _ := os.Hostname()
	m := &mark{says: underWay{Host: host, Boot: clock.BootID(), PID: os.Getpid(), Job: job}}
	var err error
	if m.root, _, err = OpenDirectory(dir, false); err != nil {
		return nil
	}
	name := fmt.Sprintf("%s%s-%d", markPrefix, fileName(host), m.says.PID)
	_ = m.root.Remove(name) // of an earlier process that had our PID
	if m.file, err = m.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644); err != nil {
		m.root.Close()
		return nil
	}
	if uid, gid, ok := sudoUser(); ok {
		_ = m.file.Chown(uid, gid)
	}
	m.lock()
	m.write()
	return m
}

// lock locks the mark. It tries again: who reads marks holds their locks for a moment (readMark).
// On a file system without locks (Lustre mounted without flock) the mark stays unlocked.
func (m *mark) lock() {
	const tries = 20
	for range tries {
		if !errors.Is(unix.Flock(int(m.file.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// name is the name of the mark's file.
func (m *mark) name() string { return filepath.Base(m.file.Name()) }

func (m *mark) write() {
	b, err := json.Marshal(&m.says)
	if err == nil && m.file.Truncate(0) == nil {
		_, _ = m.file.WriteAt(append(b, '\n'), 0)
	}
}

// begins notes that programs are measured; ends notes that a program has ended.
func (m *mark) begins(pids ...int) {
	m.change(func(list []life) []life {
		for _, pid := range pids {
			_, parent := alive(pid)
			list = append(list, life{pid, parent})
		}
		return list
	})
}

func (m *mark) ends(pid int) {
	m.change(func(list []life) []life { return slices.DeleteFunc(list, func(l life) bool { return l.PID == pid }) })
}

func (m *mark) change(of func([]life) []life) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.says.Programs = of(m.says.Programs)
	m.write()
}

// remove removes the mark, because all results are written.
func (m *mark) remove() {
	if m == nil {
		return
	}
	_ = m.root.Remove(m.name())
	m.file.Close()
	m.root.Close()
}

// seenMark is a mark as another process finds it.
type seenMark struct {
	underWay
	name string
	held bool // locked: its tool runs
}

// removeDeadMarks removes the marks of tools that were killed since this machine booted.
func removeDeadMarks(root *os.Root, dir string) {
	for _, m := range marks(dir) {
		if !m.held && m.Boot == clock.BootID() {
			_ = root.Remove(m.name)
		}
	}
}

// marks lists the marks in a directory.
func marks(dir string) (out []seenMark) {
	names := files.Matching(dir, markPrefix+"*")
	for _, name := range names {
		b, held, err := readMark(name)
		var m seenMark
		// A locked mark without text is being written at this moment.
		if err == nil && (json.Unmarshal(b, &m.underWay) == nil || held) {
			m.name, m.held = filepath.Base(name), held
			out = append(out, m)
		}
	}
	return out
}

// inUse refuses a directory to which another measurement that is under way writes its results. The
// other measurement may have written nothing yet. own is this measurement's mark; nil: it has none.
// The tools of other nodes that measure ranks of the same job are no other measurement. A tool
// whose programs have ended is about to remove its mark: inUse waits a moment for that. Who makes a
// mark first, and then asks, does not come by another who does the same at the same time.
func inUse(dir string, own *mark) error {
	const look, grace = 20 * time.Millisecond, time.Second
	for began := time.Now(); ; time.Sleep(look) {
		all := marks(dir)
		i := slices.IndexFunc(all, func(m seenMark) bool { return m.held && !m.same(own) })
		if i < 0 {
			return nil
		}
		if running, _ := all[i].running(); running || time.Since(began) > grace {
			return fmt.Errorf("%s belongs to a measurement that is under way (ompp-attach, process %d on %s): wait for its end, or give another directory with -o", dir, all[i].PID, all[i].Host)
		}
	}
}

// same tells whether the mark is that of a measurement, or of its job.
func (m *seenMark) same(own *mark) bool {
	return own != nil && (m.name == own.name() || m.Job != "" && m.Job == own.says.Job)
}

func readMark(name string) (b []byte, held bool, err error) {
	const most = 1 << 20
	b, _, err = files.ReadFile(name, most)
	if err != nil {
		return nil, false, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	return bytes.TrimSpace(b), errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK), nil
}

// alive tells whether a process runs, and which process is its parent.
func alive(pid int) (yes bool, parent int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // state, parent
	if err != nil || len(f) < 2 {
		return err != nil && !errors.Is(err, fs.ErrNotExist), 0
	}
	parent, _ = strconv.Atoi(string(f[1]))
	return !bytes.Contains([]byte("ZX"), f[0]), parent
}

// running tells whether any of the programs runs, as far as can be seen from here. It also tells
// whether all of those that run are about to end (see life).
func (m *seenMark) running() (yes, ending bool) {
	if m.Boot != clock.BootID() {
		return len(m.Programs) > 0, false
	}
	ending = true
	for _, p := range m.Programs {
		if runs, parent := alive(p.PID); runs {
			yes, ending = true, ending && parent != p.Parent
		}
	}
	return yes, yes && ending
}

// awaitLimit bounds how long `report` waits for results that are being written.
const awaitLimit = time.Minute

// Await waits, up to awaitLimit, for tools that still write to a directory though their
// programs have ended. It then warns of results that are not complete.
func Await(dir string, warn func(format string, args ...any)) {
	// A launcher may end a moment before all processes that it started have ended.
	const look, soon, grace, end = 50 * time.Millisecond, time.Second, time.Second, 3 * time.Second
	told := false
	for began := time.Now(); time.Since(began) < awaitLimit; time.Sleep(look) {
		all := marks(dir)
		i := slices.IndexFunc(all, func(m seenMark) bool {
			running, ending := m.running()
			took := time.Since(began)
			return m.held && (!running || took < grace || ending && took < end)
		})
		if i < 0 {
			break
		}
		if running, _ := all[i].running(); !running && !told && time.Since(began) > soon {
			told = true
			warn("results in %s are still being written by ompp-attach (process %d on %s): waiting for them", dir, all[i].PID, all[i].Host)
		}
	}
	for _, m := range marks(dir) {
		who := fmt.Sprintf("process %d on %s", m.PID, m.Host)
		running, _ := m.running()
		switch {
		case m.held && running:
			warn("the measurement goes on (%s): what is shown are snapshots of what there was until now", who)
		case m.held:
			warn("results in %s are still being written (%s): what is shown is not all", dir, who)
		case m.Boot == clock.BootID():
			warn("the measurement was cut short, ompp-attach was killed (%s): what is shown are snapshots, without what came after them", who)
		default:
			warn("the measurement on another machine, or before this one was started anew, has not written its last results (%s): it goes on, or was cut short", who)
		}
	}
}
