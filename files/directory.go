// Package files opens files and directories whose names come from others: from debug
// information, from a process, from the command line. Nothing that it opens blocks
// for long, has no end, or leads where another user wants root to write.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrUnsafe says that a directory, or a link on the way to it, belongs to another user.
var ErrUnsafe = errors.New("not safe to write to")

// mostLinks is how many symbolic links the kernel follows in one path.
const mostLinks = 40

// Way says how to reach a directory to which files are to be written. A link is followed if root,
// this user, or one of Trusted made it. For root, any other link may be a trap, and is refused. For
// all other users, it is followed, as far as the kernel permits.
type Way struct {
	Trusted []int // user ids, besides root's and this user's
	// Own refuses a link in the directory's own place, since others could have foreseen the name.
	// For the same reason it refuses a directory that belongs neither to this user nor to one of
	// Trusted.
	Own bool
	// Make is the mode of missing directories, which are made; 0: none is made.
	Make fs.FileMode
	// Owner returns the owner of a directory that is made inside another one. If it is nil, or ok
	// is false, this user owns it.
	Owner func(above *unix.Stat_t) (uid, gid int, ok bool)
}

// Open opens a directory, and makes missing directories if Make is set. made says that the
// directory itself was missing. The returned root stays with this directory, even if its name is
// given to another one. The error wraps ErrUnsafe for a path that Way forbids.
func (w *Way) Open(path string) (root *os.Root, made bool, err error) {
	defer func() {
		if err != nil && !errors.Is(err, ErrUnsafe) {
			err = &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}()
	at, err := open(unix.AT_FDCWD, start(path))
	if err != nil {
		return nil, false, err
	}
	defer func() { unix.Close(at) }()
	rest := strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		if rest = rest[1:]; name == "" || name == "." {
			continue
		}
		last := !slices.ContainsFunc(rest, func(s string) bool { return s != "" && s != "." })
		next, st, new, err := w.step(at, name)
		if err != nil {
			return nil, false, err
		}
		switch {
		case st.Mode&unix.S_IFMT == unix.S_IFLNK:
			if w.Own && last || !w.follows(int(st.Uid)) {
				unix.Close(next)
				return nil, false, fmt.Errorf("%w: %s is a link that user %d has made", ErrUnsafe, name, st.Uid)
			}
			target, err := readlink(next)
			unix.Close(next)
			if err != nil {
				return nil, false, err
			}
			if links++; links > mostLinks {
				return nil, false, unix.ELOOP
			}
			rest = append(strings.Split(target, "/"), rest...)
			if filepath.IsAbs(target) {
				if next, err = open(unix.AT_FDCWD, "/"); err != nil {
					return nil, false, err
				}
				unix.Close(at)
				at = next
			}
			continue
		case st.Mode&unix.S_IFMT != unix.S_IFDIR:
			unix.Close(next)
			return nil, false, unix.ENOTDIR
		}
		unix.Close(at)
		at, made = next, new
		if w.Own && last && !new && !w.ours(int(st.Uid)) {
			return nil, false, fmt.Errorf("%w: it belongs to user %d", ErrUnsafe, st.Uid)
		}
	}
	root, err = os.OpenRoot("/proc/self/fd/" + strconv.Itoa(at))
	return root, made, err
}

// step opens one name in a directory without following a link.
func (w *Way) step(at int, name string) (next int, st unix.Stat_t, made bool, err error) {
	next, err = open(at, name)
	if errors.Is(err, unix.ENOENT) && w.Make != 0 {
		if err = unix.Mkdirat(at, name, uint32(w.Make)); err != nil && !errors.Is(err, unix.EEXIST) {
			return -1, st, false, err
		}
		made = err == nil
		next, err = open(at, name)
	}
	if err != nil {
		return -1, st, false, err
	}
	if err = unix.Fstat(next, &st); err == nil && made && w.Owner != nil {
		var above unix.Stat_t
		if err = unix.Fstat(at, &above); err == nil {
			if uid, gid, ok := w.Owner(&above); ok {
				err = unix.Fchownat(next, "", uid, gid, unix.AT_EMPTY_PATH)
			}
		}
	}
	if err != nil {
		unix.Close(next)
		return -1, st, false, err
	}
	return next, st, made, nil
}

func start(path string) string {
	if filepath.IsAbs(path) {
		return "/"
	}
	return "."
}

func open(at int, name string) (int, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func readlink(fd int) (string, error) {
	b := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", b)
	if err != nil {
		return "", err
	}
	return string(b[:n]), nil
}

func (w *Way) ours(uid int) bool { return uid == os.Geteuid() || slices.Contains(w.Trusted, uid) }

func (w *Way) follows(uid int) bool { return os.Geteuid() != 0 || w.ours(uid) }

// Save replaces a file of a directory, whole or not at all. Nobody can read half of it, and a link
// in its place is not followed. finish, if any, sets rights and owner before the file gets its
// name.
func Save(dir *os.Root, name string, b []byte, finish func(*os.File) error) error {
	return Write(dir, name, func(f *os.File) error {
		_, err := f.Write(b)
		if err == nil && finish != nil {
			err = finish(f)
		}
		return err
	})
}

// Write is Save for contents that are too large for the memory: write writes them.
func Write(dir *os.Root, name string, write func(*os.File) error) error {
	f, err := temporary(dir)
	if err != nil {
		return err
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	tmp := filepath.Base(f.Name())
	if err == nil {
		err = dir.Rename(tmp, name)
	}
	if err != nil {
		_ = dir.Remove(tmp)
	}
	return err
}

// Prefix is the beginning of the names of files that are still being written.
const Prefix = ".ompp-attach-"

// temporary makes a file with a name that nobody can foresee.
func temporary(dir *os.Root) (*os.File, error) {
	for {
		f, err := dir.OpenFile(Prefix+strconv.FormatUint(rand.Uint64(), 36), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// ProveWritable makes a file in a directory and removes it again.
func ProveWritable(dir *os.Root) error {
	f, err := temporary(dir)
	if err != nil {
		return err
	}
	f.Close()
	return dir.Remove(filepath.Base(f.Name()))
}
