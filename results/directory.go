package results

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"ompp-attach/files"
)

// OpenDirectory opens a directory for results. It makes the directory and its parents if they are
// missing. Directories that it makes belong to the user who ran sudo. A directory that is there
// keeps its owner: it may be /tmp. own says that the user has not named the directory: then it must
// be no link, and must not belong to another user.
func OpenDirectory(dir string, own bool) (root *os.Root, made bool, err error) {
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

// ProveWritable says what keeps files from being written to a directory, which it makes if it is
// missing.
func ProveWritable(dir string) error {
	root, _, err := OpenDirectory(dir, false)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := files.ProveWritable(root); err != nil {
		return fmt.Errorf("cannot write to %s: %w; give another directory with -o", dir, Reason(err))
	}
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) < freeBytes {
		return fmt.Errorf("%s has less than 1 MiB of free disk space: make room, or give another directory with -o", dir)
	}
	return nil
}

// sudoUser returns the user who ran us by sudo. ok is false if there was no sudo.
func sudoUser() (uid, gid int, ok bool) {
	uid, err1 := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, err1 == nil && err2 == nil && os.Geteuid() == 0
}
