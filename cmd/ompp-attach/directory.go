package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"ompp-attach/files"
)

// openDirectory opens a directory for results. It makes the directory and its parents if they are
// missing. Directories that it makes belong to the user who ran sudo. A directory that is there
// keeps its owner: it may be /tmp. own says that the user has not named the directory: then it must
// be no link, and must not belong to another user.
func openDirectory(dir string, own bool) (root *os.Root, made bool, err error) {
	way := files.Way{Own: own, Make: 0o755}
	if uid, gid, ok := sudoUser(); ok {
		way.Trusted = []int{uid}
		way.Owner = func(*unix.Stat_t) (int, int, bool) { return uid, gid, true }
	}
	root, made, err = way.Open(dir)
	if errors.Is(err, files.ErrUnsafe) {
		err = fmt.Errorf("%s is %w; give another directory with -o", dir, err)
	}
	return root, made, err
}

func probeWritable(dir string) error {
	root, _, err := openDirectory(dir, false)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := files.ProveWritable(root); err != nil {
		return fmt.Errorf("cannot write to %s: %w; give another directory with -o", dir, reason(err))
	}
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) < freeBytes {
		return fmt.Errorf("%s has less than 1 MiB of free disk space: make room, or give another directory with -o", dir)
	}
	return nil
}

// saveFile writes a file whole or not at all: a report that a full disk cut off would look like a
// result. Root may write into another user's directory, so saveFile follows no links there.
func saveFile(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("cannot render %s: %w", name, err)
	}
	root, _, err := openDirectory(filepath.Dir(name), false)
	if err == nil {
		defer root.Close()
		err = files.Save(root, filepath.Base(name), b.Bytes(), func(f *os.File) error {
			err := f.Chmod(os.FileMode(0o644 &^ umask))
			if uid, gid, ok := sudoUser(); ok {
				err = cmp.Or(err, f.Chown(uid, gid))
			}
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, reason(err))
	}
	return nil
}

// umask is the user's umask. It can be read only by setting it for all threads, so it is read here,
// before the files of several ranks may be written at one time.
var umask = func() int {
	mask := unix.Umask(0)
	unix.Umask(mask)
	return mask
}()

// sudoUser returns the user who ran us by sudo. ok is false if there was no sudo.
func sudoUser() (uid, gid int, ok bool) {
	uid, err1 := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, err1 == nil && err2 == nil && os.Geteuid() == 0
}
