package bpf

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// linkCreateUprobeMulti is the uprobe_multi part of union bpf_attr for BPF_LINK_CREATE
// (include/uapi/linux/bpf.h, Linux 6.6).
type linkCreateUprobeMulti struct {
	progFD        uint32
	targetFD      uint32
	attachType    uint32
	linkFlags     uint32
	path          uint64
	offsets       uint64
	refCtrOffsets uint64
	cookies       uint64
	count         uint32
	flags         uint32
	pid           uint32
	_             uint32
}

const (
	cmdLinkCreate            = 28 // BPF_LINK_CREATE
	attachTraceUprobeSession = 57 // BPF_TRACE_UPROBE_SESSION
)

// attachSessions attaches the session program to points that need the return, and the entry program
// to the others.
func attachSessions(entry, session *ebpf.Program, path string, pid int, points []Point) (io.Closer, error) {
	var entries, both []Point
	for _, p := range points {
		if p.Return {
			both = append(both, p)
		} else {
			entries = append(entries, p)
		}
	}
	var links closers
	if len(both) > 0 {
		l, err := AttachSession(session, path, pid, both)
		if err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	if len(entries) > 0 {
		ex, err := link.OpenExecutable(path)
		if err != nil {
			links.Close()
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		l, err := ex.UprobeMulti(nil, entry, multiOptions(entries, pid, false))
		if err != nil {
			links.Close()
			return nil, fmt.Errorf("attach probes to %s: %w", path, err)
		}
		links = append(links, l)
	}
	return links, nil
}

// AttachSession attaches a session program to points of the ELF file at path, for one process; with
// pid 0, for all. Closing the result removes the probes. The ebpf library (v0.22) cannot do it: its
// UprobeMulti asks for the attach type without sessions, which the kernel refuses for a session
// program.
func AttachSession(prog *ebpf.Program, path string, pid int, points []Point) (io.Closer, error) {
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("attach probes to %s: %w", path, err)
	}
	offsets, cookies := make([]uint64, len(points)), make([]uint64, len(points))
	for i, p := range points {
		offsets[i], cookies[i] = p.Offset, cookie(p, pid)
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, p := range []any{name, &offsets[0], &cookies[0]} {
		pin.Pin(p)
	}
	attr := linkCreateUprobeMulti{
		progFD:     uint32(prog.FD()),
		attachType: attachTraceUprobeSession,
		path:       uint64(uintptr(unsafe.Pointer(name))),
		offsets:    uint64(uintptr(unsafe.Pointer(&offsets[0]))),
		cookies:    uint64(uintptr(unsafe.Pointer(&cookies[0]))),
		count:      uint32(len(points)),
		pid:        uint32(pid),
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, cmdLinkCreate, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return nil, fmt.Errorf("attach probes to %s: %w", path, errno)
	}
	unix.CloseOnExec(int(fd))
	return os.NewFile(fd, "uprobe session on "+path), nil
}
