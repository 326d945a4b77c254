package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reasons for not reading a file.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrKernel     = errors.New("a file that the kernel makes up")
	ErrTooLarge   = errors.New("too large")
)

// File is an open regular file on a file system that stores files. If the file system may wait for
// a server, reads give up after a while.
type File struct {
	f      *os.File
	path   string
	info   fs.FileInfo
	remote bool
}

// Open opens a regular file for reading. It does not open devices, FIFOs and sockets, since opening
// them may have effects, or wait. Nor does it open files that the kernel generates, which may have
// no end: /proc/self/pagemap, /proc/kmsg.
func Open(path string) (*File, error) {
	f, err := within("open", path, func() (*File, error) { return openRegular(path) }, func(f *File) { f.Close() })
	if err != nil {
		var named *fs.PathError
		if !errors.As(err, &named) {
			err = &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return nil, err
	}
	return f, nil
}

// openRegular looks at the file before it opens it: finding a file by O_PATH has no effect on it.
func openRegular(path string) (*File, error) {
	at, err := retried(func() (int, error) { return unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(at)
	remote, err := judge(at)
	if err != nil {
		return nil, err
	}
	// O_NONBLOCK: do not wait if somebody holds a lease on the file.
	fd, err := retried(func() (int, error) {
		return unix.Open("/proc/self/fd/"+strconv.Itoa(at), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	if err = unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f: f, path: path, info: info, remote: remote}, nil
}

func retried(call func() (int, error)) (int, error) {
	for {
		fd, err := call()
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// judge returns an error unless fd is a regular file on a file system that stores files. remote
// says that the file may be on a server.
func judge(fd int) (remote bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false, ErrNotRegular
	}
	var in unix.Statfs_t
	if err := unix.Fstatfs(fd, &in); err != nil {
		return false, err
	}
	// On some architectures the field is signed and has 32 bits.
	magic := int64(uint32(in.Type))
	if slices.Contains(kernels, magic) {
		return false, ErrKernel
	}
	return !slices.Contains(local, magic), nil
}

// kernels are file systems that store nothing: the kernel generates what is read there
// (linux/magic.h).
var kernels = []int64{
	unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC,
	unix.BPF_FS_MAGIC, unix.SECURITYFS_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC, unix.SELINUX_MAGIC, unix.SMACK_MAGIC,
	unix.NSFS_MAGIC, unix.PIPEFS_MAGIC, unix.SOCKFS_MAGIC, unix.ANON_INODE_FS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.BINFMTFS_MAGIC,
	unix.RDTGROUP_SUPER_MAGIC, unix.XENFS_SUPER_MAGIC, unix.USBDEVICE_SUPER_MAGIC, unix.AUTOFS_SUPER_MAGIC, unix.OPENPROM_SUPER_MAGIC,
	0x62656570, // configfs
	0x65735543, // fusectl
	0x19800202, // mqueue
}

// local are file systems that wait for nothing slower than a disk.
var local = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
	unix.HUGETLBFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1, unix.ISOFS_SUPER_MAGIC,
	unix.MSDOS_SUPER_MAGIC, unix.REISERFS_SUPER_MAGIC, unix.NILFS_SUPER_MAGIC,
	0x2fc12fc1, // ZFS
	0xca451a4e, // bcachefs
}

// Local reports whether a path is on a file system that no other machine writes to.
func Local(path string) bool {
	var in unix.Statfs_t
	return unix.Statfs(path, &in) == nil && slices.Contains(local, int64(uint32(in.Type)))
}

// Info describes the file as it was when it was opened.
func (f *File) Info() fs.FileInfo { return f.info }

// Read implements io.Reader.
func (f *File) Read(b []byte) (int, error) {
	return f.read(b, f.f.Read)
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	return f.read(b, func(b []byte) (int, error) { return f.f.ReadAt(b, off) })
}

func (f *File) read(b []byte, call func([]byte) (int, error)) (int, error) {
	if !f.remote {
		return call(b)
	}
	type got struct {
		n   int
		err error
	}
	own := make([]byte, len(b)) // a late answer must not be written into the caller's buffer
	g, err := within("read", f.path, func() (got, error) {
		n, err := call(own)
		return got{n, err}, nil
	}, nil)
	if err != nil {
		return 0, err
	}
	copy(b, own[:g.n])
	return g.n, g.err
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// ReadFile reads a file of at most limit bytes. The limit is checked while reading, since a file
// may grow, and its stated size may be wrong.
func ReadFile(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := f.readAll(limit)
	return b, f.info, err
}

func (f *File) readAll(limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = &fs.PathError{Op: "read", Path: f.path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)}
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Stat is os.Stat that gives up after a while, with ErrStuck.
func Stat(path string) (fs.FileInfo, error) {
	return within("stat", path, func() (fs.FileInfo, error) { return os.Stat(path) }, nil)
}

// EvalSymlinks is filepath.EvalSymlinks that gives up after a while, with ErrStuck.
func EvalSymlinks(path string) (string, error) {
	return within("follow", path, func() (string, error) { return filepath.EvalSymlinks(path) }, nil)
}

// ReadIn reads a file of a directory if one of owners owns it, up to limit bytes. A link cannot
// lead out of the directory.
func ReadIn(dir *os.Root, name string, limit int64, owners ...int) ([]byte, error) {
	path := filepath.Join(dir.Name(), name)
	f, err := within("open", path, func() (*File, error) {
		f, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		own, err := owned(f, owners)
		if err != nil {
			f.Close()
		}
		return own, err
	}, func(f *File) { f.Close() })
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.readAll(limit)
}

func owned(f *os.File, owners []int) (*File, error) {
	remote, err := judge(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); !ok || !slices.Contains(owners, int(sys.Uid)) {
		return nil, ErrUnsafe
	}
	return &File{f: f, path: f.Name(), info: info, remote: remote}, nil
}
