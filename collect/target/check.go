package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/files"
	"ompp-attach/preflight"
	"ompp-attach/probes/openmp"
	"ompp-attach/symbols"
)

// Check checks a process before it is attached to, and returns its program's name. The error,
// an *AttachError, says in one sentence why the process cannot be looked into and what to do.
func Check(pid int) (program string, err error) {
	_, exe, err := accept(pid)
	return filepath.Base(exe), err
}

// CheckRuntime looks for a runtime or an MPI library in a process that Check has accepted.
// The error, an *AttachError, says in one sentence what the process has instead.
func CheckRuntime(pid int) error {
	ahead := readAhead.add(pid)
	mods, unread := ahead.modules()
	if len(mods) == 0 && unread == nil {
		mods, unread = mapped(ahead.list, pid)
	}
	if len(mods) == 0 {
		p, _, err := accept(pid)
		if err != nil {
			return err
		}
		return unreadable(p, unread)
	}
	list := func() ([]symbols.Module, error) { return symbols.Modules(pid) }
	if slices.ContainsFunc(mods, CanProbe) || loads(len(mods), list, CanProbe) {
		return nil
	}
	return NoRuntime(pid)
}

// loads tells whether a process that had so many modules before, none of which can be probed, loads
// one that can be. A process that was just started may still be loading its libraries. That is over
// if two lists are equally long.
func loads(before int, list func() ([]symbols.Module, error), can func(symbols.Module) bool) bool {
	const look, limit = 50 * time.Millisecond, 2 * time.Second
	for began := time.Now(); time.Since(began) < limit; {
		time.Sleep(look)
		mods, err := list()
		switch {
		case err != nil:
			return false
		case slices.ContainsFunc(mods, can):
			return true
		case len(mods) == before:
			return false
		}
		before = len(mods)
	}
	return false
}

// accept refuses processes that cannot be looked into, and returns the path of the executable.
func accept(pid int) (p preflight.Process, exe string, err error) {
	refuse := func(format string, args ...any) (preflight.Process, string, error) {
		return p, "", &AttachError{fmt.Sprintf(format, args...)}
	}
	if pid <= 0 {
		return refuse("%d is no process id: give the positive number that ps or pgrep shows", pid)
	}
	p, err = preflight.ReadProcess(preflight.Root(), pid)
	switch {
	case err != nil && errors.Is(unix.Kill(pid, 0), unix.EPERM):
		return refuse("process %d belongs to another user and /proc hides it: run with sudo", pid)
	case err != nil:
		return refuse("there is no process %d: list the running ones with ps or pgrep", pid)
	case p.Leader == os.Getpid():
		return refuse("process %d is ompp-attach itself: give the id of the program to measure", pid)
	case p.Leader != pid:
		return refuse("%d is a thread of process %d (%s): give the process, --pid %d", pid, p.Leader, p.Name, p.Leader)
	case p.Ended:
		return refuse("process %d (%s) has ended and is a zombie until its parent takes note: there is nothing left to measure", pid, p.Name)
	case p.Kernel:
		return refuse("process %d (%s) is a thread of the kernel, not a program: there is no OpenMP or MPI to measure in it", pid, p.Name)
	}
	link := fmt.Sprintf("/proc/%d/exe", pid)
	exe, err = os.Readlink(link)
	switch {
	case errors.Is(err, os.ErrPermission):
		return p, "", &AttachError{notPermitted(p)}
	case err != nil:
		return refuse("process %d (%s) has just ended: there is nothing left to measure", pid, p.Name)
	}
	exe = strings.TrimSuffix(exe, " (deleted)")
	if err := checkExecutable(p, exe, link); err != nil {
		return p, "", err
	}
	return p, exe, nil
}

// checkExecutable refuses programs of a kind that cannot be measured; link is
// where the process's executable can be read.
func checkExecutable(p preflight.Process, exe, link string) error {
	o, err := symbols.OpenObject(link)
	var sentence string
	switch {
	case err == nil:
		return o.Close()
	case errors.Is(err, symbols.Err32Bit):
		sentence = fmt.Sprintf("process %d (%s) runs a 32-bit program, whose runtimes this version does not know: build the program for 64 bits", p.PID, exe)
	case errors.Is(err, symbols.ErrUnsupported):
		sentence = fmt.Sprintf("process %d (%s) runs a program for another kind of processor: only amd64 and arm64 programs can be measured", p.PID, exe)
	case errors.Is(err, os.ErrPermission):
		sentence = notPermitted(p)
	default:
		sentence = fmt.Sprintf("the executable of process %d (%s) cannot be read (%v): nothing can be found in it", p.PID, exe, err)
	}
	return &AttachError{sentence}
}

// notPermitted says why we may not look into a process, and what to do.
func notPermitted(p preflight.Process) string {
	if p.UID == os.Geteuid() {
		return fmt.Sprintf("not permitted to look into process %d (%s), which is protected (it has privileges of its own, or is not dumpable): run with sudo, or with CAP_SYS_PTRACE", p.PID, p.Name)
	}
	return fmt.Sprintf("not permitted to look into process %d (%s), which belongs to another user, %s: run with sudo, or as that user, or with CAP_SYS_PTRACE", p.PID, p.Name, userName(p.UID))
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return "uid " + strconv.Itoa(uid)
}

// mapped lists the files that a process maps. It tries several times, since a process maps none for
// a moment at exec.
func mapped(p *symbols.Process, pid int) (mods []symbols.Module, unread error) {
	for range 5 {
		if mods, unread = p.Modules(); len(mods) > 0 || unread != nil || Ended(pid) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return mods, unread
}

// unreadable explains why no file of a process could be read.
func unreadable(p preflight.Process, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return &AttachError{notPermitted(p)}
	case err == nil, errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		return &AttachError{fmt.Sprintf("process %d (%s) has just ended: there is nothing left to measure", p.PID, p.Name)}
	}
	return &AttachError{fmt.Sprintf("the program of process %d (%s) and its libraries cannot be read (%s)", p.PID, p.Name, strings.ReplaceAll(err.Error(), "\n", "; "))}
}

// NoRuntime says what a process has instead of an OpenMP runtime or an MPI library.
func NoRuntime(pid int) error {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	exe = strings.TrimSuffix(exe, " (deleted)")
	f := found{exe: exe}
	mods, _ := symbols.Modules(pid)
	if len(mods) == 0 && Ended(pid) {
		return &AttachError{fmt.Sprintf("process %d has just ended: there is nothing left to measure", pid)}
	}
	for i := range mods {
		if o := mods[i].Object(); mods[i].Path == exe {
			f.static = o.Interpreter() == ""
			f.stripped = o.Stripped()
			continue
		}
		f.libs = append(f.libs, mods[i].Path)
	}
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)); err == nil {
		f.unread = unreadRuntime(string(b), f.libs)
	}
	f.marked = f.static && containsText(fmt.Sprintf("/proc/%d/exe", pid), runtimeMark)
	return &AttachError{f.sentence(pid)}
}

// runtimeMark is a text that every OpenMP runtime holds, stripped or not: an environment variable
// that it reads.
const runtimeMark = "OMP_NUM_THREADS"

// found is what a process has instead of an OpenMP runtime.
type found struct {
	exe              string
	libs             []string // paths
	static, stripped bool     // the executable
	marked           bool     // the executable holds runtimeMark
	unread           string   // path of a runtime that is mapped but could not be read
}

// unreadRuntime finds a runtime in the text of /proc/PID/maps that is not among the libraries that
// could be read. It returns the path, or "".
func unreadRuntime(maps string, libs []string) string {
	for l := range strings.Lines(maps) {
		at := strings.Index(l, "/")
		if at < 0 {
			continue
		}
		path := strings.TrimSuffix(strings.TrimSpace(l[at:]), " (deleted)")
		if openmp.Named(path) && !slices.Contains(libs, path) {
			return path
		}
	}
	return ""
}

func (f *found) sentence(pid int) string {
	who := fmt.Sprintf("process %d (%s)", pid, f.exe)
	more := fmt.Sprintf("; `ompp-attach check --pid %d` lists what was found", pid)
	if f.unread != "" {
		return fmt.Sprintf("the OpenMP runtime of %s, %s, cannot be read, most likely because it was replaced or removed on disk since the program started: run with sudo (CAP_CHECKPOINT_RESTORE), or restart the program", who, f.unread)
	}
	if f.static && len(f.libs) == 0 {
		switch {
		case f.stripped && f.marked:
			return who + " is statically linked and stripped, it seems to hold an OpenMP runtime (it names " + runtimeMark + ") but one without names cannot be found: link the program dynamically, or leave its symbols in (no -s, no strip)"
		case f.stripped:
			return who + " is statically linked and stripped, and an OpenMP runtime without names cannot be found: if it uses OpenMP, link it dynamically, or leave its symbols in (no -s, no strip)"
		}
		return who + " has no OpenMP runtime and no MPI library: it is statically linked and contains neither libgomp nor libomp nor PMPI_Init" + more
	}
	var telling []string
	for _, lib := range f.libs {
		if openmp.Named(lib) {
			return fmt.Sprintf("%s maps %s, but that lacks the entry points of the OpenMP runtimes that this version knows%s", who, lib, more)
		}
		for _, t := range []string{"libpthread", "libtbb", "libmpi", "libopenblas", "libOpenCL", "libcuda"} {
			if base := filepath.Base(lib); strings.HasPrefix(base, t) {
				telling = append(telling, base)
			}
		}
	}
	libs := fmt.Sprintf("%d libraries", len(f.libs))
	if len(f.libs) == 1 {
		libs = "1 library"
	}
	if len(telling) > 0 {
		libs += " (" + strings.Join(telling, ", ") + " among them)"
	}
	return fmt.Sprintf("%s has no OpenMP runtime and no MPI library: it maps %s, but not libgomp, libomp or libiomp5, and none that defines PMPI_Init%s", who, libs, more)
}

// containsText tells whether the first 256 MiB of a file hold a text. More would take too long for
// an error message.
func containsText(path, text string) bool {
	f, err := files.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	r := io.LimitReader(f, 256<<20)
	buf := make([]byte, 1<<20)
	keep := 0
	for {
		n, err := r.Read(buf[keep:])
		if bytes.Contains(buf[:keep+n], []byte(text)) {
			return true
		}
		if err != nil {
			return false
		}
		have := keep + n
		keep = min(have, len(text)-1)
		copy(buf, buf[have-keep:have])
	}
}

// AttachError says in one sentence for the user why a process cannot be measured.
type AttachError struct{ Sentence string }

// Error implements error.
func (e *AttachError) Error() string { return e.Sentence }

// HostPIDs refuses to run where PIDs are not those of the initial PID namespace: the records carry
// the PIDs of that namespace. The inode of that namespace is fixed (PROC_PID_INIT_INO,
// include/linux/proc_ns.h).
func HostPIDs() error {
	const initial = "pid:[4026531836]"
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil && ns != initial {
		return &AttachError{"this shell runs in a PID namespace of its own (a container), where process numbers differ from the kernel's: run ompp-attach on the host, or in a container with the host's PID namespace (docker run --pid=host --privileged)"}
	}
	return nil
}
