package main

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// ownFileCaps undoes two side effects of capabilities that come from the executable's file
// (setcap). The kernel gives /proc/self to root. glibc takes LD_LIBRARY_PATH and similar variables
// out of the environment, but the program that the tool starts needs them. Other processes of the
// user gain nothing by the undoing: to look into this process they would need the same capabilities
// (cap_ptrace_access_check). Go's runtime writes no core file of such a program.
func ownFileCaps() {
	if os.Getuid() == 0 || os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() {
		return // file capabilities change nothing for root's processes
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return
	}
	env, err := os.ReadFile("/proc/self/environ") // as the kernel got it at exec
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
