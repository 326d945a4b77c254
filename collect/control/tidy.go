package control

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"ompp-attach/clock"
	"ompp-attach/files"
)

// tidySockets removes the sockets of tools that were killed, and of an earlier process that had our
// PID.
func tidySockets(dir string) {
	sockets, _ := filepath.Glob(filepath.Join(dir, "*"+socketSuffix))
	for _, path := range sockets {
		pid := listenerOf(path)
		switch {
		case pid == os.Getpid():
			_ = os.Remove(path)
		case pid > 0 && refused(path):
			removeDead(path)
		}
	}
}

// listenerOf returns the process for which a socket is named, or 0.
func listenerOf(path string) (pid int) {
	pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), socketSuffix))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// removeDead removes a socket at which nobody listens, if its tool was killed. A tool that begins
// does not listen yet at the moment at which it makes its socket.
func removeDead(path string) {
	pid := listenerOf(path)
	if pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || EarlierBoot(path) {
		_ = os.Remove(path)
	}
}

// refused reports whether nobody listens at a socket. Whoever does may be in another PID namespace.
func refused(path string) bool {
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// EarlierBoot reports whether a file was last written before this machine was booted. Then whoever
// wrote the file is gone, unless another machine shares the directory.
func EarlierBoot(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.ModTime().Before(clock.Booted()) && files.Local(path)
}

var ofBoot = regexp.MustCompile(`^[0-9a-f]{8}$`)

// It removes them only if the name of dir tells the boot. Nothing else than the tool's own files is
// removed.
func tidyBoots(dir string) {
	prefix := filepath.Join(filepath.Dir(dir), tempPrefix())
	if !strings.HasPrefix(dir, prefix) {
		return
	}
	others, _ := filepath.Glob(prefix + "*")
	for _, other := range others {
		if other == dir || !ofBoot.MatchString(strings.TrimPrefix(other, prefix)) || private(other) != nil || !EarlierBoot(other) {
			continue
		}
		left, _ := filepath.Glob(filepath.Join(other, "*"))
		for _, path := range left {
			if EarlierBoot(path) && ours(path) {
				_ = os.Remove(path)
			}
		}
		_ = os.Remove(other) // fails if anything is left
	}
}

// ours reports whether a file's name is one that the tool gives to files in its directory: a
// socket, a collector's log, or the lock.
func ours(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, socketSuffix) || strings.HasPrefix(name, "job-") || name == "lock"
}
