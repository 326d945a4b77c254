// Package stuckfs is a test helper: a file system of a server that does not
// answer. It is mounted by FUSE, as root.
package stuckfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Requests (linux/fuse.h).
const (
	opLookup  = 1
	opForget  = 2
	opGetattr = 3
	opOpen    = 14
	opStatfs  = 17
	opInit    = 26
)

// Mount mounts the file system at a directory until the test ends. opens: every
// name in it is a file that can be opened but not read; else not even that.
func Mount(t testing.TB, dir string, opens bool) {
	t.Helper()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no FUSE: %v", err)
	}
	err = unix.Mount("stuckfs", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd))
	if err != nil {
		unix.Close(fd)
		t.Skipf("cannot mount: %v", err)
	}
	file := os.NewFile(uintptr(fd), "fuse")
	var served sync.WaitGroup
	if opens {
		served.Go(func() { serve(fd) })
	}
	t.Cleanup(func() {
		// Whoever waits gets an error.
		if err := unix.Unmount(dir, unix.MNT_FORCE|unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
		served.Wait()
		file.Close()
	})
}

// noFlush: closing the file asks nothing (FOPEN_NOFLUSH), nobody waits for that.
const noFlush = 1 << 5

// valid is how long names and attributes are, in seconds.
const valid = 3600

func serve(fd int) {
	b := make([]byte, 1<<17)
	for {
		n, err := unix.Read(fd, b)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT) { // interrupted meanwhile
			continue
		}
		if err != nil || n < 40 { // ENODEV: unmounted
			return
		}
		op, unique, node := binary.LittleEndian.Uint32(b[4:]), b[8:16], binary.LittleEndian.Uint64(b[16:])
		var body []byte
		failed := int32(0)
		switch op {
		case opForget:
			continue
		case opInit:
			body = binary.LittleEndian.AppendUint32(body, 7)
			body = binary.LittleEndian.AppendUint32(body, 31)
			body = append(body, make([]byte, 56)...)
			binary.LittleEndian.PutUint32(body[20:], 1<<16) // max_write
		case opLookup:
			body = binary.LittleEndian.AppendUint64(body, 2)
			body = append(body, make([]byte, 8)...)
			body = binary.LittleEndian.AppendUint64(body, valid)
			body = binary.LittleEndian.AppendUint64(body, valid)
			body = append(body, make([]byte, 8)...)
			body = append(body, attributes(2)...)
		case opGetattr:
			body = binary.LittleEndian.AppendUint64(body, valid)
			body = append(body, make([]byte, 8)...)
			body = append(body, attributes(node)...)
		case opOpen:
			body = make([]byte, 16)
			body[8] = noFlush
		case opStatfs:
			body = make([]byte, 80)
		default:
			failed = -int32(unix.ENOSYS)
		}
		out := binary.LittleEndian.AppendUint32(nil, uint32(16+len(body)))
		out = binary.LittleEndian.AppendUint32(out, uint32(failed))
		out = append(append(out, unique...), body...)
		_, _ = unix.Write(fd, out)
		if op == opOpen { // who waits for what nobody has taken can be killed, as with NFS
			return
		}
	}
}

// attributes are those of the directory, node 1, or of a file.
func attributes(node uint64) []byte {
	b := make([]byte, 88)
	mode := uint32(unix.S_IFDIR | 0o755)
	if node != 1 {
		mode = unix.S_IFREG | 0o755
	}
	binary.LittleEndian.PutUint64(b, node)
	binary.LittleEndian.PutUint64(b[8:], 1<<16) // size
	binary.LittleEndian.PutUint32(b[60:], mode)
	binary.LittleEndian.PutUint32(b[64:], 1) // links
	return b
}
