package main

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// ownFileCaps makes the process usual again when its capabilities come from its
// file (setcap). The kernel then gives what is in /proc/self to root, and glibc
// takes LD_LIBRARY_PATH and the like out of the environment, which the program
// that we start needs. Another process of the user gains nothing: to look into
// this one it would need the same capabilities (cap_ptrace_access_check), and of
// such a program Go's runtime writes no core.
func ownFileCaps() {
	if os.Getuid() == 0 || os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() {
		return // no file makes root's processes unusual
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return
	}
	env, err := os.ReadFile("/proc/self/environ") // as the kernel was given it
	if err != nil {
		return
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		name, value, ok := bytes.Cut(entry, []byte("="))
		if _, there := os.LookupEnv(string(name)); ok && !there {
			_ = os.Setenv(string(name), string(value))
		}
	}
}
