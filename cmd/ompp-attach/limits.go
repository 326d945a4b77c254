package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ompp-attach/cmd/ompp-attach/cli"
)

// enoughFiles is the number of open files that the tool advises: a measurement on a machine with
// few processors needs some 250.
const enoughFiles = 1024

// fewFiles replaces an error that the limit of open files has caused by one sentence with the
// remedy. Go has already raised the soft limit to the hard limit. Errors of a collector arrive as
// text, so the text is compared as well.
func fewFiles(err error) error {
	if !errors.Is(err, unix.EMFILE) && !strings.Contains(err.Error(), unix.EMFILE.Error()) {
		return err
	}
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return err
	}
	return tooFewFiles(&l)
}

// checkFiles ends the tool at once if far too few files may be open for a measurement. With so few,
// even Go's runtime fails.
func checkFiles(command string) {
	const few = 100
	var l unix.Rlimit
	if !slices.Contains([]string{"run", "attach", "top"}, command) || unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Cur >= few {
		return
	}
	_, _ = unix.Write(unix.Stderr, []byte("ompp-attach: "+tooFewFiles(&l).Error()+"\n"))
	os.Exit(cli.Failure)
}

func tooFewFiles(l *unix.Rlimit) error {
	return fmt.Errorf("only %d files may be open at a time, which is too few: run `ulimit -n %d` first, in the shell that starts ompp-attach (as root if that is refused)",
		l.Cur, enoughFiles)
}
